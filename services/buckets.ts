// Token buckets by key: each refills at a steady rate up to its burst.
export interface Rate {
  perSecond: number;
  /** Maximum amount at once after a quiet time. */
  burst: number;
}

export interface Buckets {
  /** Returns zero after taking the amount, else the milliseconds until it is available. `times` multiplies the bucket's size and rate. */
  take(key: string, amount: number, times?: number): number;
}

export function createBuckets({ perSecond, burst }: Rate, now: () => number): Buckets {
  const buckets = new Map<string, Bucket>();
  const leftIn = ({ left, atMs, times }: Bucket): number =>
    Math.min(burst * times, left + (Math.max(0, now() - atMs) / 1_000) * perSecond * times);

  /** A full bucket needs no entry. When the limit is reached, the oldest entries are dropped. */
  const forgetFull = (): void => {
    for (const [key, bucket] of buckets) if (leftIn(bucket) >= burst * bucket.times) buckets.delete(key);
    for (const key of buckets.keys()) {
      if (buckets.size < maxBuckets) break;
      buckets.delete(key);
    }
  };

  return {
    take(key, amount, times = 1) {
      const before = buckets.get(key);
      const left = before === undefined ? burst * times : leftIn(before);
      if (left < amount) return Math.ceil(((amount - left) / (perSecond * times)) * 1_000);
      if (before === undefined && buckets.size >= maxBuckets) forgetFull();
      buckets.set(key, { left: left - amount, atMs: now(), times });
      return 0;
    },
  };
}

interface Bucket {
  left: number;
  atMs: number;
  times: number;
}

const maxBuckets = 20_000;
