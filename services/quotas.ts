// Limits of one caller's use of one API process: token buckets for requests and bytes of bodies, and a number of open answers. Callers are
// distinguished after authentication, so no caller uses up another's quota. All tokens of a user are one caller, and all users of a workspace
// together have ten times the quota. Counted in this process, so with several replicas the limit is as many times higher.
import { RopewalkError } from '../domain/errors.ts';
import { createBuckets } from './buckets.ts';

export interface QuotaLimits {
  requestsPerSecond: number;
  /** Maximum requests at once after a quiet time. */
  requestBurst: number;
  /** Maximum open answers: followed logs and events, held orders. */
  openStreams: number;
  /** Bytes of counted bodies, because reading and storing one keeps the event loop busy. */
  bodyBytesPerSecond: number;
  bodyBytesBurst: number;
}

export interface QuotaCaller {
  /** A user, an instance, or the agents of a cluster. */
  id: string;
  /** The workspace whose callers share a limit; null for none. */
  workspace: string | null;
}

export interface Quotas {
  /** Throws TOO_BUSY when this caller has sent too many requests recently. */
  request(caller: QuotaCaller): void;
  /** Throws TOO_BUSY when this caller has sent too many bytes recently. */
  body(caller: QuotaCaller, bytes: number): void;
  /** Throws TOO_BUSY when this caller holds too many open answers; else returns a function that releases the place, once. */
  stream(caller: QuotaCaller, max?: number): () => void;
}

/** The factor for all callers of a workspace together. */
const workspaceTimes = 10;

export function createQuotas(limits: QuotaLimits, now: () => number): Quotas {
  const { requestsPerSecond, requestBurst, openStreams, bodyBytesPerSecond, bodyBytesBurst } = limits;
  const requests = createBuckets({ perSecond: requestsPerSecond, burst: requestBurst }, now);
  const bodies = createBuckets({ perSecond: bodyBytesPerSecond, burst: bodyBytesBurst }, now);
  const streams = new Map<string, number>();

  const sharesOf = ({ id, workspace }: QuotaCaller) => [
    { key: `caller/${id}`, times: 1, who: 'This caller' },
    ...(workspace === null ? [] : [{ key: `workspace/${workspace}`, times: workspaceTimes, who: 'This workspace' }]),
  ];

  return {
    request(caller) {
      for (const { key, times, who } of sharesOf(caller)) {
        const waitMs = requests.take(key, 1, times);
        if (waitMs > 0) throw busy(`${who} has asked too often just now.`, waitMs);
      }
    },
    body(caller, bytes) {
      for (const { key, times, who } of sharesOf(caller)) {
        // A body larger than the burst is accepted after a quiet time, because another limit applies to single bodies.
        const waitMs = bodies.take(key, Math.min(bytes, bodyBytesBurst), times);
        if (waitMs > 0) throw busy(`${who} has sent too much just now.`, waitMs);
      }
    },
    stream(caller, max = openStreams) {
      const shares = sharesOf(caller);
      for (const { key, times, who } of shares) {
        const open = streams.get(key) ?? 0;
        if (open >= max * times) throw busy(`${who} holds ${open} answers open already.`, streamRetryMs);
      }
      for (const { key } of shares) streams.set(key, (streams.get(key) ?? 0) + 1);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        for (const { key } of shares) {
          const left = (streams.get(key) ?? 1) - 1;
          if (left <= 0) streams.delete(key);
          else streams.set(key, left);
        }
      };
    },
  };
}

const streamRetryMs = 5_000;

const busy = (message: string, retryAfterMs: number) =>
  new RopewalkError({ code: 'TOO_BUSY', message, hint: 'Wait for the time in Retry-After.' }, { retryAfterMs });
