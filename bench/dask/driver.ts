// Talks to driver.py, the Python program that uses the clusters of the benches `dask` and `adaptive`.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Times of events, in milliseconds since 1970, by this machine's clock. */
export interface FirstResult {
  connected: number;
  workers: number;
  result: number;
}

export interface TlsPaths {
  ca: string;
  certificate: string;
  key: string;
}

/** The load for a cluster with adaptive scaling, and the delay before it. */
export interface Load {
  tasks: number;
  afterSeconds: number;
}

export interface AdaptiveOptions {
  maximum: number;
  interval: string;
  targetDuration: string;
  waitCount: number;
}

export interface Driver {
  /** Applies the load, and keeps it until `unload`. */
  load: (order: TlsPaths & Load & { address: string }) => Promise<{ applied: number }>;
  unload: () => Promise<void>;
  localAdaptive: (order: Load & AdaptiveOptions) => Promise<{ applied: number; changed: number }>;
  connect: (order: TlsPaths & { address: string; workers: number }) => Promise<FirstResult>;
  local: (workers: number) => Promise<FirstResult & { asked: number }>;
  close: () => Promise<void>;
}

export function startDriver(python: string): Driver {
  const child = spawn(python, [join(import.meta.dirname, 'driver.py')], { stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let words = '';
  child.stderr.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(-3000)));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (order: object): Promise<Record<string, number>> => {
    child.stdin.write(`${JSON.stringify(order)}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`the Python program ended: ${words}`);
    return JSON.parse(value);
  };
  const times = (answer: Record<string, number>): FirstResult & { asked: number } => {
    const { asked = 0, connected = 0, workers = 0, result = 0 } = answer;
    return { asked, connected, workers, result };
  };
  return {
    connect: async (order) => times(await ask({ op: 'connect', ...order })),
    local: async (workers) => times(await ask({ op: 'local', workers })),
    load: async (order) => ({ applied: (await ask({ op: 'load', ...order }))['applied'] ?? 0 }),
    unload: async () => void (await ask({ op: 'unload' })),
    localAdaptive: async (order) => {
      const { applied = 0, changed = 0 } = await ask({ op: 'local_adaptive', ...order });
      return { applied, changed };
    },
    close: async () => {
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await exited;
      clearTimeout(timer);
    },
  };
}
