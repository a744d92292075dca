// Whether this replica can do its work now, part by part. Probes come often, and a write to the object store costs something:
// its answer is kept for a while. Without Temporal the replica is ready still: it accepts creates and stops, and reads.
import type { Objects } from '../platform/objects/objects.ts';
import type { Store } from '../store/store.ts';
import type { WorkflowsPort } from './workflows-port.ts';

export type PartState = 'ok' | 'unavailable';

export interface Readiness {
  /** The only part that the replica can be without. */
  temporal: PartState;
  database: PartState;
  keys: PartState;
  objects: PartState;
}

export function createReadiness(ports: {
  workflows: Pick<WorkflowsPort, 'isReachable'>;
  store: Pick<Store, 'ping'>;
  objects: Objects;
  /** Rejects when the key file cannot be read. */
  readKeys: () => Promise<unknown>;
  now: () => number;
  /** Replicas that share the store do not read each other's object. */
  replica: string;
  /** What has not answered by then is not well: probes give up too, and would not read which part it was. */
  deadlineMs?: number;
}): () => Promise<Readiness> {
  const { deadlineMs = defaultDeadlineMs } = ports;
  let last: { atMs: number; isWell: Promise<boolean> } | null = null;
  /** One at a time: a store that hangs, or a key file on it, must not gather a round of each probe. */
  let asking: Promise<boolean> | null = null;
  const isWithinDeadline = (check: () => Promise<unknown>): (() => Promise<boolean>) => {
    let checking: Promise<boolean> | null = null;
    return () => {
      checking ??= succeeds(check).finally(() => (checking = null));
      return within(deadlineMs, checking);
    };
  };
  const areKeysWell = isWithinDeadline(ports.readKeys);
  const isDatabaseWell = isWithinDeadline(() => ports.store.ping());

  const isStoreWell = (): Promise<boolean> => {
    const nowMs = ports.now();
    if (last === null || nowMs - last.atMs >= storeFreshForMs) {
      asking ??= succeeds(() => writeAndRead(ports.objects, `ready/${ports.replica}`)).finally(() => (asking = null));
      last = { atMs: nowMs, isWell: within(deadlineMs, asking) };
    }
    return last.isWell;
  };

  return async () => {
    const [temporal, database, keys, objects] = await Promise.all([
      ports.workflows.isReachable(),
      isDatabaseWell(),
      areKeysWell(),
      isStoreWell(),
    ]);
    return {
      temporal: stateOf(temporal),
      database: stateOf(database),
      keys: stateOf(keys),
      objects: stateOf(objects),
    };
  };
}

/** Less than the patience of the probes that are common. */
const defaultDeadlineMs = 2_000;
const storeFreshForMs = 10_000;
const probe = new TextEncoder().encode('ready?');

async function writeAndRead(objects: Objects, key: string): Promise<void> {
  await objects.put(key, probe);
  const read = await objects.get(key);
  await objects.delete(key);
  if (read === null) throw new Error('what was written was not found');
}

const succeeds = (what: () => Promise<unknown>): Promise<boolean> =>
  what().then(
    () => true,
    () => false,
  );

async function within(ms: number, isWell: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  return Promise.race([isWell, late]).finally(() => clearTimeout(timer));
}

const stateOf = (isWell: boolean): PartState => (isWell ? 'ok' : 'unavailable');
