// Clients send keepalives often, and the cluster's history need not contain each. A recent keepalive with the same timeout is not sent again, with a
// wide margin to the timeout that ends the cluster.

export interface Keepalives {
  /** True when the same keepalive was sent so recently that none is needed. `timeoutMs`: the timeout that ends the cluster, if known. */
  isRecent(cluster: number, said: number | null, timeoutMs: number | null): boolean;
  sent(cluster: number, said: number | null): void;
}

export function createKeepalives(now: () => number): Keepalives {
  const last = new Map<number, { said: number | null; atMs: number }>();
  return {
    isRecent(cluster, said, timeoutMs) {
      const known = last.get(cluster);
      if (known === undefined || known.said !== said) return false;
      const spareMs = Math.min(maxSpareMs, (timeoutMs ?? Number.POSITIVE_INFINITY) * shareOfTimeout);
      return now() - known.atMs < spareMs;
    },
    sent(cluster, said) {
      // Re-inserting keeps the map in order of use, so the first entry is the oldest.
      last.delete(cluster);
      last.set(cluster, { said, atMs: now() });
      const [oldest] = last.keys();
      if (last.size > maxRemembered && oldest !== undefined) last.delete(oldest);
    },
  };
}

const maxSpareMs = 30_000;
const shareOfTimeout = 1 / 3;
const maxRemembered = 2_000;
