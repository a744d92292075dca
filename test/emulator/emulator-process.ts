// An emulator as its own process, for tests; they must always end it with `stop`.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface EmulatorProcess<Order> {
  url: string;
  pid: number;
  /** Sends an order to the emulator's control API and returns its result. */
  ask: <T>(order: Order) => Promise<T>;
  stop: () => Promise<void>;
}

/** `script`: prints one JSON line with its URL. */
export async function startEmulatorProcess<Order>(script: URL, options: object): Promise<EmulatorProcess<Order>> {
  const words = [fileURLToPath(script), JSON.stringify(options)];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (typeof value !== 'string') throw new Error('The emulator ended before it printed its address.');
  const { url }: { url: string } = JSON.parse(value);
  return {
    url,
    pid: child.pid ?? 0,
    ask: async (order) => {
      const answer = await fetch(`${url}/_control`, { method: 'POST', body: JSON.stringify(order) });
      const body = await answer.json();
      if (!answer.ok) throw new Error(JSON.stringify(body));
      return body;
    },
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
