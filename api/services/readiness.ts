// Can this replica do its work now? Each part is asked by itself, so that whoever reads the answer knows which one is not
// well. Probes come often, and a write to the store costs something: what it said is good for a while.
import type { Objects } from '../../platform/objects/objects.ts';
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
}): () => Promise<Readiness> {
  let last: { atMs: number; isWell: Promise<boolean> } | null = null;

  const isStoreWell = (): Promise<boolean> => {
    const nowMs = ports.now();
    if (last === null || nowMs - last.atMs >= storeFreshForMs) {
      last = { atMs: nowMs, isWell: succeeds(() => writeAndRead(ports.objects, `ready/${ports.replica}`)) };
    }
    return last.isWell;
  };

  return async () => {
    const [temporal, keys, objects] = await Promise.all([
      ports.workflows.isReachable(),
      succeeds(ports.readKeys),
      isStoreWell(),
    ]);
    return { temporal: stateOf(temporal), keys: stateOf(keys), objects: stateOf(objects) };
  };
}

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

const stateOf = (isWell: boolean): PartState => (isWell ? 'ok' : 'unavailable');
