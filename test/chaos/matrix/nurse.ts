// Loaded by `node --import` where the stack starts its Temporal worker: starts several in its place, each with the fault
// interceptor, and restarts each at once when it dies. With the stack's own backoff a matrix of kills would take hours;
// test/chaos/crash.test.ts measures the restart of a single worker with it.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { workersVariable } from './faults.ts';

const [, script = ''] = process.argv;
const living = new Set<ChildProcess>();
let isEnding = false;

function start(): void {
  const preload = fileURLToPath(new URL('preload.ts', import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, `--import=${preload}`, script], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: 'inherit',
  });
  living.add(child);
  child.once('exit', () => {
    living.delete(child);
    if (!isEnding) start();
    else if (living.size === 0) process.exit(0);
  });
}

process.on('SIGTERM', () => {
  isEnding = true;
  for (const child of living) child.kill('SIGTERM');
});
for (let index = 0; index < Number(process.env[workersVariable] ?? 1); index += 1) start();
// The worker's own script must not run in this process as well.
await new Promise(() => setInterval(() => undefined, 60_000));
