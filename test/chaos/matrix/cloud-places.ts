// The places of instances in their clusters, from a cloud's ledger.
import type { LedgerEntry } from '../../emulator/ledger.ts';
import type { CloudEmulator, CloudUnderTest } from '../../support/clouds.ts';
import type { Ground, Owner } from './ground.ts';

type Tags = CloudUnderTest['tags'];

/** Reads the ledger again for an instance that it did not contain. */
export function ownersFrom(emulator: Pick<CloudEmulator, 'ledger'>, tags: Tags): Ground['ownersOf'] {
  let entries: readonly LedgerEntry[] = [];
  return async (instances) => {
    const known = new Set(entries.map(({ id }) => id));
    if (instances.some((id) => !known.has(id))) ({ entries } = await emulator.ledger());
    return placesOf(entries, instances, tags);
  };
}

/** Tags name a role and no slot: the head is slot 0, workers are numbered in order. Instances outside the ledger are left out. */
export function placesOf(
  entries: readonly LedgerEntry[],
  instances: readonly string[],
  keys: Tags,
): Map<string, Owner> {
  const wanted = new Set(instances);
  const workers = new Map<number, number>();
  const places = new Map<string, Owner>();
  for (const { event, id, tags } of entries) {
    if (event !== 'launched' || !wanted.has(id)) continue;
    const cluster = Number(tags[keys.cluster]);
    const isHead = tags[keys.role] === 'head';
    const count = (workers.get(cluster) ?? 0) + 1;
    if (!isHead) workers.set(cluster, count);
    places.set(id, { cluster, slot: isHead ? 0 : count });
  }
  return places;
}
