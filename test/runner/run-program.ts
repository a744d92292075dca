// Runs a program of this checkout and returns its result.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export const tool = (name: string): string => join(root, 'node_modules', '.bin', name);

export interface Ended {
  /** 1 when it could not be started, or was ended by a signal. */
  code: number;
  /** Standard output and standard error. */
  output: string;
}

/** `quiet`: the output is kept and not shown, for programs that run beside others. */
export function runProgram(
  program: string,
  args: readonly string[],
  { env = {}, quiet = false }: { env?: Record<string, string>; quiet?: boolean } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    let output = '';
    for (const [from, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ] as const) {
      from.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (!quiet) to.write(chunk);
      });
    }
    child.once('error', (error) => resolve({ code: 1, output: `cannot run ${program}: ${error.message}` }));
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
