// Judges a cloud's ledger: the owner and the end of each instance against the number of slots that its cluster had meanwhile.
// Slots are not tagged: two instances in one slot appear as more live workers than slots, or as two heads.
import type { LedgerEntry } from '../../emulator/ledger.ts';
import type { CloudUnderTest } from '../../support/clouds.ts';

/** One request of a life: from this moment on, this many slots, including the head's. */
export interface Asked {
  cluster: number;
  slots: { fromMs: number; count: number }[];
}

interface Life {
  id: string;
  cluster: number;
  isHead: boolean;
  fromMs: number;
  toMs: number;
}

type Keys = CloudUnderTest['tags'];

export interface Question {
  deploymentId: string;
  asked: readonly Asked[];
  open: ReadonlySet<number>;
  /** Keys of the tags in the ledger. */
  keys: Keys;
}

/** Returns the violations. `open`: clusters that have not ended, with instances that may live. Other deployments do not count. */
export function judgeLedger(entries: readonly LedgerEntry[], { deploymentId, asked, open, keys }: Question): string[] {
  const lives = livesOf(
    entries.filter(({ tags }) => tags[keys.deployment] === deploymentId),
    keys,
  );
  const violations: string[] = [];
  for (const { event, id, tags } of entries) {
    if (event === 'launched' && tags[keys.deployment] === undefined) violations.push(`ledger: ${id} has no owner`);
  }
  for (const [cluster, own] of Map.groupBy(lives, (life) => life.cluster)) {
    const wanted = asked.find((each) => each.cluster === cluster);
    if (wanted === undefined) {
      violations.push(`ledger: ${own.map(({ id }) => id).join(', ')} of cluster ${cluster}, which was never requested`);
    } else {
      violations.push(...crowds(cluster, own, wanted));
    }
    const left = own.filter(({ toMs }) => toMs === Number.POSITIVE_INFINITY).map(({ id }) => id);
    if (left.length > 0 && !open.has(cluster))
      violations.push(`ledger: ${left.join(', ')} live of cluster ${cluster}, which has ended`);
  }
  return violations;
}

function livesOf(entries: readonly LedgerEntry[], keys: Keys): Life[] {
  const endedAt = new Map(entries.flatMap(({ event, id, atMs }) => (event === 'ended' ? [[id, atMs]] : [])));
  return entries.flatMap(({ event, id, atMs, tags }) =>
    event === 'launched'
      ? [
          {
            id,
            cluster: Number(tags[keys.cluster]),
            isHead: tags[keys.role] === 'head',
            fromMs: atMs,
            toMs: endedAt.get(id) ?? Number.POSITIVE_INFINITY,
          },
        ]
      : [],
  );
}

/** The number of live instances grows only at launches, which makes checking each launch enough. */
function crowds(cluster: number, lives: Life[], { slots }: Asked): string[] {
  const found: string[] = [];
  for (const { fromMs } of lives) {
    const then = lives.filter((life) => life.fromMs <= fromMs && fromMs < life.toMs);
    const count = slots.findLast((each) => each.fromMs <= fromMs)?.count ?? 0;
    for (const isHead of [true, false]) {
      const same = then.filter((life) => life.isHead === isHead).map(({ id }) => id);
      const room = isHead ? Math.min(count, 1) : Math.max(0, count - 1);
      if (same.length > room)
        found.push(
          `ledger: cluster ${cluster} had ${room} ${isHead ? 'head' : 'worker'} slots, and ${same.join(', ')} in them`,
        );
    }
  }
  return [...new Set(found)];
}
