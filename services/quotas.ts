// How much one caller may ask of one API process: requests by a bucket that refills, and lines that are held open. Callers
// are told apart after they have shown who they are, so nobody uses up what is another's. Counted in this process: with
// several replicas the bound is as many times higher.
import { RopewalkError } from '../domain/errors.ts';

export interface QuotaLimits {
  requestsPerSecond: number;
  /** Requests that may come at once after a quiet time. */
  requestBurst: number;
  /** Answers that stay open: followed logs and events, held orders. */
  openStreams: number;
}

export interface Quotas {
  /** Throws TOO_BUSY when this caller has asked too often lately. */
  request(caller: string): void;
  /** Throws TOO_BUSY when this caller holds too many open already; else a function that gives the place back, once. */
  stream(caller: string, most?: number): () => void;
}

export function createQuotas({ requestsPerSecond, requestBurst, openStreams }: QuotaLimits, now: () => number): Quotas {
  const buckets = new Map<string, Bucket>();
  const streams = new Map<string, number>();
  const refilled = ({ left, atMs }: Bucket): number =>
    Math.min(requestBurst, left + (Math.max(0, now() - atMs) / 1_000) * requestsPerSecond);

  return {
    request(caller) {
      const before = buckets.get(caller);
      const left = before === undefined ? requestBurst : refilled(before);
      if (left < 1) {
        throw busy('This token has asked too often just now.', Math.ceil(((1 - left) / requestsPerSecond) * 1_000));
      }
      if (before === undefined && buckets.size >= maxCallers) forgetRested(buckets, (bucket) => refilled(bucket));
      buckets.set(caller, { left: left - 1, atMs: now() });
    },
    stream(caller, most = openStreams) {
      const open = streams.get(caller) ?? 0;
      if (open >= most) throw busy(`This token holds ${open} answers open already.`, streamRetryMs);
      streams.set(caller, open + 1);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        const left = (streams.get(caller) ?? 1) - 1;
        if (left <= 0) streams.delete(caller);
        else streams.set(caller, left);
      };
    },
  };

  /** Whoever has a full bucket is nobody to remember; when all are busy, those who came first are forgotten. */
  function forgetRested(all: Map<string, Bucket>, leftOf: (bucket: Bucket) => number): void {
    for (const [caller, bucket] of all) if (leftOf(bucket) >= requestBurst) all.delete(caller);
    for (const caller of all.keys()) {
      if (all.size < maxCallers) break;
      all.delete(caller);
    }
  }
}

interface Bucket {
  left: number;
  atMs: number;
}

const maxCallers = 20_000;
const streamRetryMs = 5_000;

const busy = (message: string, retryAfterMs: number) =>
  new RopewalkError({ code: 'TOO_BUSY', message, hint: 'Wait for the time in Retry-After.' }, { retryAfterMs });
