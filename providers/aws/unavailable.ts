// Offerings without capacity, cached for all clusters of this process: a hundred clusters should not each retry them. It is
// only a hint. A launch records the pools that it excluded in its template, and every retry, in any process, excludes the same
// pools: otherwise one client token would stand for two requests.
import { unavailableOfferMs } from '../../domain/cluster/limits.ts';
import type { Market } from '../provider.ts';
import type { Pool, RoleOutcome } from './pools.ts';

export interface UnavailableOfferings {
  /** Records a launch's unavailable pools and zones. Ignores quota errors, which depend on the requested count. */
  note(market: Market, outcome: Pick<RoleOutcome, 'instances' | 'poolFailures'>): void;
  /** Encodes the unavailable pools as text; empty when none or all of them are unavailable. */
  exclusions(market: Market, pools: readonly Pool[]): string;
}

/** `now` returns milliseconds of any monotonic clock. */
export function createUnavailableOfferings(now: () => number = () => performance.now()): UnavailableOfferings {
  const untilMs = new Map<string, number>();
  const isUnavailable = (market: Market, type: string, zone: string): boolean =>
    (untilMs.get(key(market, type, zone)) ?? 0) > now();
  return {
    note(market, { instances, poolFailures }) {
      for (const [each, atMs] of untilMs) if (atMs <= now()) untilMs.delete(each);
      const gave = new Set(instances.map(({ type, zone }) => key(market, type, zone)));
      for (const { scope, offer, zone } of poolFailures) {
        const type = scope === 'offer' ? offer : '*';
        const reaches = scope === 'offer' || scope === 'zone' || scope === 'subnet';
        if (!reaches || zone === '' || type === '' || gave.has(key(market, type, zone))) continue;
        untilMs.set(key(market, type, zone), now() + unavailableOfferMs);
      }
    },
    exclusions(market, pools) {
      const excluded = pools.map(
        ({ type, subnet: { zone } }) => isUnavailable(market, type, zone) || isUnavailable(market, '*', zone),
      );
      return excluded.includes(true) && excluded.includes(false) ? pack(excluded) : '';
    },
  };
}

/** The pools that `exclusions` does not contain. */
export function withoutExcluded(pools: readonly Pool[], exclusions: string): Pool[] {
  return pools.filter((_, at) => ((Number.parseInt(exclusions[at >> 2] ?? '0', 16) >> (at & 3)) & 1) === 0);
}

/** Encodes four pools per hexadecimal digit: a tag's value has 256 characters, a fleet up to 300 pools. */
function pack(excluded: readonly boolean[]): string {
  const digits = Array.from({ length: Math.ceil(excluded.length / 4) }, (_, at) =>
    excluded.slice(4 * at, 4 * at + 4).reduce((digit, isExcluded, bit) => digit + (isExcluded ? 1 << bit : 0), 0),
  );
  return digits.map((digit) => digit.toString(16)).join('');
}

const key = (market: Market, type: string, zone: string): string => `${market} ${type} ${zone}`;
