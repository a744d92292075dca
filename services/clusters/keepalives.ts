// Clients say often that they are there; the cluster's history need not hold each time. A keepalive that was sent to a
// cluster a short while ago, and says the same, is not sent again: always well within the time after which silence ends the cluster.

export interface Keepalives {
  /** Was the same sent so recently that the cluster needs no reminder? `timeoutMs`: after which silence ends it, if known. */
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
      // Re-inserting keeps the map in order of use, so that the first one is the one to forget.
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
