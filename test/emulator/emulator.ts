// The emulated AWS account as its own process, for tests.
import { startEmulatorProcess } from './emulator-process.ts';
import type { SeenResource } from './resources.ts';
import type { Order, SeenInstance } from './control.ts';
import type { LedgerEntry } from './ledger.ts';
import type { MachineOptions } from './machines.ts';

export interface Emulator {
  url: string;
  pid: number;
  send(order: Order): Promise<void>;
  /** Of the account of a role, or of the main one. */
  instances(role?: string): Promise<SeenInstance[]>;
  ledger(): Promise<{ entries: LedgerEntry[]; live: string[] }>;
  /** The existing launch templates and volumes, attached or not. */
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
  traffic?: string;
}

export async function startEmulator(options: StartOptions = {}): Promise<Emulator> {
  const { url, pid, ask, stop } = await startEmulatorProcess<Order>(new URL('main.ts', import.meta.url), options);
  return {
    url,
    pid,
    send: async (order) => void (await ask(order)),
    instances: (role) => ask({ op: 'instances', ...(role === undefined ? {} : { role }) }),
    ledger: () => ask({ op: 'ledger' }),
    resources: () => ask({ op: 'resources' }),
    plant: async (resource) => (await ask<{ id: string }>({ op: 'plant', ...resource })).id,
    counts: () => ask({ op: 'counts' }),
    identityKey: async () => (await ask<{ publicKey: string }>({ op: 'identityKey' })).publicKey,
    stop,
  };
}
