// The emulated AWS account: its regions, its time, its ledger, and how instances begin and end in it.
import type { Clock } from './clock.ts';
import { createClock } from './clock.ts';
import type { Faults } from './faults.ts';
import { createFaults } from './faults.ts';
import type { Ledger } from './ledger.ts';
import { createIam } from './iam-policies.ts';
import type { Policy } from './policy.ts';
import type { Iam } from './iam-policies.ts';
import { createLedger } from './ledger.ts';
import { createRegion, hexId } from './state.ts';
import type { Instance, Market, Region, TemplateData } from './state.ts';

export interface Delays {
  /** From the launch until describe shows it. */
  visibleMs: number;
  /** If larger than `visibleMs`: each delay is between the two, the same in every run. */
  visibleUpToMs: number;
  /** From the launch until it runs. */
  pendingMs: number;
  /** From the request until it is terminated, or stopped. */
  shutdownMs: number;
}

export interface Hooks {
  launched(instance: Instance): void;
  ended(instance: Instance): void;
}

export interface EmulatedAccount {
  clock: Clock;
  faults: Faults;
  ledger: Ledger;
  delays: Delays;
  accountId: string;
  /** Of the account, in all regions. */
  iam: Iam;
  hooks: Hooks;
  /** Other accounts, whose instances are records: role -> the external id that its trust requires, and the account. */
  trusts: Map<string, { externalId: string; account: EmulatedAccount }>;
  /** Access key -> its permissions; a key without an entry has full access. */
  permissions: Map<string, Policy[]>;
  /** The number of next instances that boot without ever calling home. */
  muteNext: number;
  /** A repeated CreateFleet is answered with the fleet's id alone. */
  repeatsFleetsBare: boolean;
  region(name: string): Region;
  regions(): Region[];
  find(id: string): Instance | null;
  launch(region: Region, wanted: NewInstance): Instance;
  /** Ends it now, or at a future time; the first end stands. */
  end(instance: Instance, code: string, why: string): void;
  /** Like StopInstances, which any principal with that permission can also call on Ropewalk's instances. */
  stop(instance: Instance): void;
}

export interface NewInstance {
  type: string;
  zone: string;
  market: Market;
  subnet: string;
  data: TemplateData;
  tags: Record<string, string>;
  volumeTags: Record<string, string>;
  reservation: string;
  clientToken: string;
  fleet: string | null;
}

export function createAccount(ledgerPath: string | null, accountId = '123456789012'): EmulatedAccount {
  const clock = createClock();
  const regions = new Map<string, Region>();
  let addresses = 0;
  const account: EmulatedAccount = {
    clock,
    faults: createFaults(clock),
    ledger: createLedger(ledgerPath),
    delays: { visibleMs: 0, visibleUpToMs: 0, pendingMs: 0, shutdownMs: 0 },
    accountId,
    iam: createIam(),
    trusts: new Map(),
    permissions: new Map(),
    hooks: { launched: () => {}, ended: () => {} },
    muteNext: 0,
    repeatsFleetsBare: false,
    region(name) {
      const known = regions.get(name) ?? createRegion(name);
      regions.set(name, known);
      return known;
    },
    regions: () => [...regions.values()],
    find(id) {
      for (const region of regions.values()) {
        const found = region.instances.get(id);
        if (found !== undefined) return found;
      }
      return null;
    },
    launch(region, { volumeTags, ...wanted }) {
      const nowMs = clock.nowMs();
      addresses += 1;
      const { visibleMs, visibleUpToMs } = account.delays;
      const mute = account.muteNext > 0;
      if (mute) account.muteNext -= 1;
      const instance: Instance = {
        ...wanted,
        id: hexId('i'),
        volumeId: hexId('vol'),
        privateIp: loopback(77, addresses),
        publicIp: wanted.data.publicIp ? loopback(78, addresses) : null,
        launchedAtMs: nowMs,
        visibleFromMs: nowMs + visibleMs + share(addresses) * Math.max(0, visibleUpToMs - visibleMs),
        runningFromMs: nowMs + account.delays.pendingMs,
        stop: null,
        end: null,
        interruption: null,
        rebalanceAtMs: null,
        mute,
      };
      region.instances.set(instance.id, instance);
      region.volumes.set(instance.volumeId, {
        ...{ id: instance.volumeId, zone: instance.zone, sizeGib: wanted.data.diskGib ?? 8, tags: volumeTags },
        ...{ createdAtMs: nowMs, instance, deleteOnTermination: wanted.data.deleteOnTermination, deletedAtMs: null },
      });
      account.ledger.note('launched', instance, nowMs, wanted.fleet ?? 'RunInstances');
      account.hooks.launched(instance);
      return instance;
    },
    end(instance, code, why) {
      const nowMs = clock.nowMs();
      if (instance.end !== null) return;
      instance.end = { atMs: nowMs, goneAtMs: nowMs + account.delays.shutdownMs, code };
      account.ledger.note('ended', instance, nowMs, why);
      account.hooks.ended(instance);
    },
    stop(instance) {
      const nowMs = clock.nowMs();
      instance.stop ??= { atMs: nowMs, stoppedAtMs: nowMs + account.delays.shutdownMs };
    },
  };
  return account;
}

/** The nth instance's position between two bounds. */
const share = (n: number): number => (Math.imul(n, 0x9e3779b1) >>> 0) / 2 ** 32;

/** Addresses that processes of one machine can really listen on: each instance has its own. */
const loopback = (net: number, n: number): string => `127.${net}.${Math.floor(n / 250) % 250}.${(n % 250) + 1}`;
