// Whether this replica can work now, part by part. Probes come often, and a write to the object store is costly, so its result is cached. A replica
// without Temporal is still ready: it accepts creates and stops, and serves reads.
import type { Objects } from '../platform/objects/objects.ts';
import type { Store } from '../store/store.ts';
import type { WorkflowsPort } from './workflows-port.ts';

export type PartState = 'ok' | 'unavailable';

export interface Readiness {
  /** The only part that the replica can do without. */
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
  /** Each replica writes its own object in the shared store. */
  replica: string;
  /** A part without an answer by then counts as unavailable, because a probe that times out would not report which part failed. */
  deadlineMs?: number;
}): () => Promise<Readiness> {
  const { deadlineMs = defaultDeadlineMs } = ports;
  let last: { atMs: number; isWell: Promise<boolean> } | null = null;
  /** One at a time: with a hanging object store or key file, probes must not pile up. */
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

/** Less than the timeout of common probes. */
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
