// Can this replica do its work now? Each part is asked by itself, so that whoever reads the answer knows which one is not
// well. Probes come often, and a write to the store costs something: what it said is good for a while.
import type { Objects } from '../platform/objects/objects.ts';
import type { WorkflowsPort } from './workflows-port.ts';

export type PartState = 'ok' | 'unavailable';

export interface Readiness {
  temporal: PartState;
  keys: PartState;
  objects: PartState;
}

export function createReadiness(ports: {
  workflows: Pick<WorkflowsPort, 'isReachable'>;
  objects: Objects;
  /** Rejects when the key file cannot be read. */
  readKeys: () => Promise<unknown>;
  now: () => number;
  /** Replicas that share the store do not look at each other's object. */
  replica: string;
  /** What has not answered by then is not well: probes give up too, and would not read which part it was. */
  deadlineMs?: number;
}): () => Promise<Readiness> {
  const { deadlineMs = defaultDeadlineMs } = ports;
  let last: { atMs: number; isWell: Promise<boolean> } | null = null;
  /** One at a time: a store that hangs, or a key file on it, must not gather a round of each probe. */
  let asking: Promise<boolean> | null = null;
  let reading: Promise<boolean> | null = null;

  const isStoreWell = (): Promise<boolean> => {
    const nowMs = ports.now();
    if (last === null || nowMs - last.atMs >= storeFreshForMs) {
      asking ??= succeeds(() => writeAndRead(ports.objects, `ready/${ports.replica}`)).finally(() => (asking = null));
      last = { atMs: nowMs, isWell: within(deadlineMs, asking) };
    }
    return last.isWell;
  };
  const areKeysWell = (): Promise<boolean> => {
    reading ??= succeeds(ports.readKeys).finally(() => (reading = null));
    return within(deadlineMs, reading);
  };

  return async () => {
    const [temporal, keys, objects] = await Promise.all([ports.workflows.isReachable(), areKeysWell(), isStoreWell()]);
    return { temporal: stateOf(temporal), keys: stateOf(keys), objects: stateOf(objects) };
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
