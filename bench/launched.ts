// The instances that an emulated cloud launched for a cluster, and the number of calls.
import { setTimeout as sleep } from 'node:timers/promises';

import type { CloudEmulator, CloudUnderTest } from '../test/support/clouds.ts';

const checkEveryMs = 200;

/** Ids of the existing instances with this cluster's tag, once there are this many. */
export async function launched(
  emulator: Pick<CloudEmulator, 'ledger'>,
  keys: CloudUnderTest['tags'],
  cluster: number,
  count: number,
): Promise<string[]> {
  const deadlineMs = performance.now() + 120_000;
  for (;;) {
    const { entries, live } = await emulator.ledger();
    const living = new Set(live);
    const ours = entries.filter(
      ({ id, event, tags }) => event === 'launched' && living.has(id) && tags[keys.cluster] === String(cluster),
    );
    if (ours.length >= count) return ours.map(({ id }) => id);
    if (performance.now() > deadlineMs) throw new Error(`${ours.length} of ${count} instances were launched`);
    await sleep(checkEveryMs);
  }
}

/** The difference of call counters between two moments. */
export const difference = (after: Record<string, number>, before: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]));
