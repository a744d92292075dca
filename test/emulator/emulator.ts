// Starts the emulator as its own process, for tests; they end it with `stop`, whatever happened.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { SeenResource } from './resources.ts';
import type { Order, SeenInstance } from './control.ts';
import type { LedgerEntry } from './ledger.ts';
import type { MachineOptions } from './machines.ts';

export interface Emulator {
  url: string;
  pid: number;
  tell(order: Order): Promise<void>;
  instances(): Promise<SeenInstance[]>;
  ledger(): Promise<{ entries: LedgerEntry[]; live: string[] }>;
  /** Launch templates and volumes that are there now, attached or not. */
  resources(): Promise<SeenResource[]>;
  plant(resource: Omit<Extract<Order, { op: 'plant' }>, 'op'>): Promise<string>;
  counts(): Promise<{ calls: Record<string, number>; injected: Record<string, number> }>;
  identityKey(): Promise<string>;
  stop(): Promise<void>;
}

export interface StartOptions {
  ledgerPath?: string;
  machines?: MachineOptions;
  port?: number;
}

const script = fileURLToPath(new URL('main.ts', import.meta.url));

export async function startEmulator(options: StartOptions = {}): Promise<Emulator> {
  const child = spawn(process.execPath, [script, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (typeof value !== 'string') throw new Error('The emulator ended before it said where it listens.');
  const { url }: { url: string } = JSON.parse(value);
  const ask = async <T>(order: Order): Promise<T> => {
    const answer = await fetch(`${url}/_control`, { method: 'POST', body: JSON.stringify(order) });
    const body = await answer.json();
    if (!answer.ok) throw new Error(JSON.stringify(body));
    return body;
  };
  return {
    url,
    pid: child.pid ?? 0,
    tell: async (order) => void (await ask(order)),
    instances: () => ask({ op: 'instances' }),
    ledger: () => ask({ op: 'ledger' }),
    resources: () => ask({ op: 'resources' }),
    plant: async (resource) => (await ask<{ id: string }>({ op: 'plant', ...resource })).id,
    counts: () => ask({ op: 'counts' }),
    identityKey: async () => (await ask<{ publicKey: string }>({ op: 'identityKey' })).publicKey,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
