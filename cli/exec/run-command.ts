// One local command on our own stdin, stdout and stderr: whoever uses it should not notice that we are in between.
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
      // A signal that could not be sent comes here as well; the command's own end will tell.
      if (child.pid !== undefined) return;
      const why = error.code === 'ENOENT' ? 'there is no such program' : (error.code ?? error.message);
      note(`error: cannot run ${program}: ${why}`);
      resolve(error.code === 'ENOENT' ? notFound : notExecutable);
    });
    child.on('exit', (code, signal) => resolve(code ?? (signal === null ? 1 : exitCodeOfSignal(signal))));
  });
}
