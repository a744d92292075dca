// The emulated Google Cloud project as its own process, for tests.
import { startEmulatorProcess } from '../emulator-process.ts';
import type { MachineOptions } from '../machines.ts';
import type { Order, SeenInstance, SeenLedger, SeenProject } from './control.ts';
import type { Disk, Firewall } from './state.ts';

export interface GcpEmulator {
  url: string;
  pid: number;
  send(order: Order): Promise<void>;
  instances(): Promise<SeenInstance[]>;
  ledger(): Promise<SeenLedger>;
  /** Returns the new resource's id. */
  plant(thing: Omit<Extract<Order, { op: 'plant' }>, 'op'>): Promise<string>;
  resources(): Promise<{ disks: Disk[]; firewalls: Firewall[] }>;
  counts(): Promise<{ calls: Record<string, number>; injected: Record<string, number> }>;
  /** The resources of setup. */
  project(): Promise<SeenProject>;
  /** Every permission that a caller needed so far, by e-mail address. */
  usedPermissions(): Promise<Record<string, string[]>>;
  /** As the instance would get it from its metadata server. */
  identityToken(name: string, audience: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startGcpEmulator(
  options: { machines?: MachineOptions; traffic?: string } = {},
): Promise<GcpEmulator> {
  const { url, pid, ask, stop } = await startEmulatorProcess<Order>(new URL('main.ts', import.meta.url), options);
  return {
    url,
    pid,
    send: async (order) => void (await ask(order)),
    instances: () => ask({ op: 'instances' }),
    ledger: () => ask({ op: 'ledger' }),
    plant: async (thing) => (await ask<{ id: string }>({ op: 'plant', ...thing })).id,
    resources: () => ask({ op: 'resources' }),
    counts: () => ask({ op: 'counts' }),
    project: () => ask({ op: 'project' }),
    usedPermissions: () => ask({ op: 'usedPermissions' }),
    identityToken: async (name, audience) =>
      (await ask<{ token: string }>({ op: 'identityToken', name, audience })).token,
    stop,
  };
}
