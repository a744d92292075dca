// Runs driver.py: a real Dask client that executes the Python it receives.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { z } from 'zod';

import type { TlsFiles } from '../../agent/dask/commands.ts';

export interface Driver {
  /** Runs code that leaves its answer, as JSON, in `result`. `client`, `distributed`, `address` and `security` are defined. */
  python: (code: string) => Promise<unknown>;
  close: () => Promise<void>;
}

const reply = z.object({ id: z.number(), result: z.unknown().optional(), error: z.string().optional() });
const script = fileURLToPath(new URL('driver.py', import.meta.url));

export async function startDriver(pythonDirectory: string, address: string, tls: TlsFiles): Promise<Driver> {
  const child = spawn(join(pythonDirectory, 'bin', 'python'), [script, address, JSON.stringify(tls)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  });
  const waiting = new Map<number, (answer: z.infer<typeof reply>) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = reply.parse(JSON.parse(line));
    waiting.get(answer.id)?.(answer);
  });
  const exited = once(child, 'exit');
  const answerTo = (id: number): Promise<unknown> =>
    Promise.race([
      new Promise<z.infer<typeof reply>>((resolve) => waiting.set(id, resolve)).then((answer) => {
        if (answer.error !== undefined) throw new Error(answer.error);
        return answer.result;
      }),
      exited.then(() => {
        throw new Error('the driver ended');
      }),
    ]);
  let last = 0;
  await answerTo(0);
  return {
    python: (code) => {
      last += 1;
      const answer = answerTo(last);
      child.stdin.write(`${JSON.stringify({ id: last, code })}\n`);
      return answer;
    },
    close: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
