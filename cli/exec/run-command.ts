// Runs a local command on this process's stdin, stdout and stderr.
import { spawn } from 'node:child_process';

import type { SignalRelay } from './signal-relay.ts';
import { exitCodeOfSignal } from './signal-relay.ts';

const notFound = 127;
const notExecutable = 126;

export async function runCommand(
  [program = '', ...args]: readonly string[],
  options: {
    env: Record<string, string | undefined>;
    cwd: string;
    relay: SignalRelay;
    note: (text: string) => void;
  },
): Promise<number> {
  const { env, cwd, relay, note } = options;
  const child = spawn(program, args, { stdio: 'inherit', env, cwd });
  relay.to((signal) => child.kill(signal));
  return new Promise((resolve) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      // A signal that cannot be sent is an error event too; the command's exit event follows.
      if (child.pid !== undefined) return;
      const why = error.code === 'ENOENT' ? 'program not found' : (error.code ?? error.message);
      note(`error: cannot run ${program}: ${why}`);
      resolve(error.code === 'ENOENT' ? notFound : notExecutable);
    });
    child.on('exit', (code, signal) => resolve(code ?? (signal === null ? 1 : exitCodeOfSignal(signal))));
  });
}
