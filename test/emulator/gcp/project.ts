// The emulated project as a whole: its time, its ledger, and how instances begin and end in it.
import { randomInt } from 'node:crypto';

import { createRandom } from '../../support/random.ts';
import type { Clock } from '../clock.ts';
import { createClock } from '../clock.ts';
import type { Faults } from '../faults.ts';
import { createFaults } from '../faults.ts';
import type { LedgerEntry } from '../ledger.ts';
import { createAccess } from './access.ts';
import type { Access } from './access.ts';
import { createIam } from './iam.ts';
import type { Iam } from './iam.ts';
import type { LogEntry } from './logging.ts';
import type { Network, Subnetwork } from './network.ts';
import { rateLimitExceeded, ratesOfGce } from './rates.ts';
import { isLive, statusAt } from './state.ts';
import type { Disk, Firewall, Instance, Operation } from './state.ts';
import type { Bucket } from './storage.ts';
import type { Image } from './images.ts';

export interface EmulatedProject {
  id: string;
  region: string;
  zones: string[];
  clock: Clock;
  faults: Faults;
  instances: Instance[];
  disks: Map<string, Disk>;
  networks: Map<string, Network>;
  /** By `REGION/NAME`. */
  subnetworks: Map<string, Subnetwork>;
  firewalls: Map<string, Firewall>;
  /** By name. */
  images: Map<string, Image>;
  /** APIs that are not enabled, e.g. `compute`. */
  disabled: Set<string>;
  iam: Iam;
  buckets: Map<string, Bucket>;
  access: Access;
  operations: Operation[];
  /** requestId -> name of the operation that it started. */
  requests: Map<string, string>;
  ledger: LedgerEntry[];
  logs: LogEntry[];
  /** `visibleUpToMs`: a random delay up to this; `changeMs`: of networks, subnetworks and rules. */
  delays: { visibleMs: number; visibleUpToMs: number; pendingMs: number; shutdownMs: number; changeMs: number };
  /** `machineType/zone/market` -> how many fit at the same time; without an entry the capacity is unlimited. */
  capacity: Map<string, number>;
  /** Quota metric, e.g. `CPUS` -> vCPUs at the same time. */
  quotas: Map<string, number>;
  /** `machineType/zone/market` -> the error of an insert there. */
  poolErrors: Map<string, { code: string; message: string }>;
  /** Call, e.g. `instances.delete` -> the error with which its next operation ends. */
  failing: Map<string, { code: string; message: string }>;
  muteNext: number;
  onEnd: (instance: Instance, how: 'orderly' | 'crash') => void;
  /** The instance as reads show it; null when reads answer 404. */
  shown(zone: string, nameOrId: string): Instance | null;
  /** Also while reads do not show it yet. */
  existing(zone: string, nameOrId: string): Instance | null;
  operation(input: Omit<Operation, 'name' | 'insertedAtMs'>): Operation;
  launch(instance: NewInstance): Instance;
  /** Deletes it; a repeat changes nothing. */
  remove(instance: Instance, type: string, how?: 'orderly' | 'crash'): Operation;
  /** It stays, off. */
  halt(instance: Instance, type: string, how?: 'orderly' | 'crash'): void;
}

export type NewInstance = Omit<
  Instance,
  | 'numericId'
  | 'privateIp'
  | 'publicIp'
  | 'createdAtMs'
  | 'visibleFromMs'
  | 'runningFromMs'
  | 'stop'
  | 'deletion'
  | 'preemption'
  | 'mute'
  | 'keepsDisk'
  | 'isEnding'
> & { hasPublicIp: boolean };

export function createProject(): EmulatedProject {
  const clock = createClock();
  let launches = 0;
  const delayShare = createRandom(1);
  const note = (event: LedgerEntry['event'], instance: Instance, why: string): void => {
    const { name: id, machineType: type, zone, market, requestId: clientToken, labels: tags } = instance;
    const hasPublicIp = instance.publicIp !== null;
    project.ledger.push({ atMs: clock.nowMs(), event, id, type, zone, market, clientToken, tags, hasPublicIp, why });
  };
  const id = 'test-project';
  const iam = createIam(id, `${existing}@${id}.iam.gserviceaccount.com`);
  const project: EmulatedProject = {
    id,
    region: 'us-central1',
    zones: ['us-central1-a', 'us-central1-b', 'us-central1-c'],
    clock,
    faults: createFaults(clock, { rates: ratesOfGce, refusal: rateLimitExceeded }),
    instances: [],
    disks: new Map(),
    networks: new Map([[existing, { name: existing, description: '' }]]),
    subnetworks: new Map([
      [
        `us-central1/${existing}`,
        { ...{ name: existing, region: 'us-central1', network: existing }, cidr: '10.128.0.0/20', description: '' },
      ],
    ]),
    firewalls: new Map(),
    images: new Map(),
    disabled: new Set(),
    iam,
    buckets: new Map(),
    access: createAccess(id, iam),
    operations: [],
    requests: new Map(),
    ledger: [],
    logs: [],
    delays: { visibleMs: 0, visibleUpToMs: 0, pendingMs: 0, shutdownMs: 0, changeMs: 0 },
    capacity: new Map(),
    quotas: new Map(),
    poolErrors: new Map(),
    failing: new Map(),
    muteNext: 0,
    onEnd: () => {},
    existing: (zone, nameOrId) =>
      project.instances.find(
        (each) =>
          each.zone === zone &&
          (each.name === nameOrId || each.numericId === nameOrId) &&
          statusAt(each, clock.nowMs()) !== null,
      ) ?? null,
    shown: (zone, nameOrId) => {
      const found = project.existing(zone, nameOrId);
      return found === null || clock.nowMs() < found.visibleFromMs ? null : found;
    },
    operation(input) {
      const operation = { ...input, name: `operation-${clock.nowMs()}-${digits(12)}`, insertedAtMs: clock.nowMs() };
      project.operations.push(operation);
      return operation;
    },
    launch({ hasPublicIp, ...wanted }) {
      const nowMs = clock.nowMs();
      const { visibleMs, visibleUpToMs, pendingMs } = project.delays;
      launches += 1;
      const mute = project.muteNext > 0;
      if (mute) project.muteNext -= 1;
      const instance: Instance = {
        ...wanted,
        numericId: digits(19),
        privateIp: loopback(87, launches),
        publicIp: hasPublicIp ? loopback(88, launches) : null,
        createdAtMs: nowMs,
        visibleFromMs: nowMs + visibleMs + delayShare() * Math.max(0, visibleUpToMs - visibleMs),
        runningFromMs: nowMs + pendingMs,
        ...{ stop: null, deletion: null, preemption: null, mute, keepsDisk: false, isEnding: false },
      };
      project.instances.push(instance);
      note('launched', instance, 'bulkInsert');
      return instance;
    },
    remove(instance, type, how = 'orderly') {
      const nowMs = clock.nowMs();
      const wasLive = isLive(instance, nowMs);
      instance.deletion ??= { atMs: nowMs, goneAtMs: nowMs + project.delays.shutdownMs };
      if (instance.keepsDisk) {
        instance.keepsDisk = false;
        const { name, zone, labels, createdAtMs } = instance;
        project.disks.set(`${zone}/${name}`, { name, zone, labels, createdAtMs });
      }
      if (wasLive) {
        note('ended', instance, type);
        project.onEnd(instance, how);
      }
      const target = `zones/${instance.zone}/instances/${instance.name}`;
      const doneAtMs = (): number =>
        instance.isEnding ? Number.POSITIVE_INFINITY : (instance.deletion?.goneAtMs ?? 0);
      return project.operation({
        ...{ type, scope: `zones/${instance.zone}`, target, groupId: null, doneAtMs, error: null, perLocation: null },
      });
    },
    halt(instance, type, how = 'orderly') {
      const nowMs = clock.nowMs();
      if (!isLive(instance, nowMs)) return;
      instance.stop = { atMs: nowMs, stoppedAtMs: nowMs + project.delays.shutdownMs };
      note('ended', instance, type);
      const target = `zones/${instance.zone}/instances/${instance.name}`;
      project.operation({
        ...{ type, scope: `zones/${instance.zone}`, target, groupId: null, doneAtMs: () => nowMs },
        ...{ error: null, perLocation: null },
      });
      project.onEnd(instance, how);
    },
  };
  return project;
}

/** The name of the network, the subnetwork and the service account that exist from the start. */
const existing = 'ropewalk';

/** Like Google's ids: a positive number with this many digits. */
export const digits = (length: number): string =>
  Array.from({ length }, (_, at) => (at === 0 ? randomInt(1, 10) : randomInt(10))).join('');

/** Addresses that processes of one machine can really listen on: each instance has its own. */
const loopback = (net: number, n: number): string => `127.${net}.${Math.floor(n / 250) % 250}.${(n % 250) + 1}`;
