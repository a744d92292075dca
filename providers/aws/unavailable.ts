// Offerings that EC2 recently had no capacity for, remembered for all clusters of this process: a hundred of them should not
// each ask for the same in vain. Only a hint. A launch records in its template which pools it excluded, and every repeat of it,
// from any process, excludes the same: otherwise one client token would stand for two requests.
import { unavailableOfferMs } from '../../domain/cluster/limits.ts';
import type { Market } from '../provider.ts';
import type { Pool, RoleOutcome } from './pools.ts';

export interface UnavailableOfferings {
  /** Learns from an answer: a pool that gave nothing, a zone that cannot give. Quotas depend on how much is asked for. */
  note(market: Market, outcome: Pick<RoleOutcome, 'instances' | 'poolFailures'>): void;
  /** Which of the pools are unavailable, as text; empty when none are, or all of them. */
  exclusions(market: Market, pools: readonly Pool[]): string;
}

/** `now` in milliseconds of any clock that does not go back. */
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

/** The pools that `exclusions` does not name. */
export function withoutExcluded(pools: readonly Pool[], exclusions: string): Pool[] {
  return pools.filter((_, at) => ((Number.parseInt(exclusions[at >> 2] ?? '0', 16) >> (at & 3)) & 1) === 0);
}

/** Four pools to a hexadecimal digit: the value of a tag has 256 characters, a fleet up to 300 pools. */
function pack(excluded: readonly boolean[]): string {
  const digits = Array.from({ length: Math.ceil(excluded.length / 4) }, (_, at) =>
    excluded.slice(4 * at, 4 * at + 4).reduce((digit, isExcluded, bit) => digit + (isExcluded ? 1 << bit : 0), 0),
  );
  return digits.map((digit) => digit.toString(16)).join('');
}

const key = (market: Market, type: string, zone: string): string => `${market} ${type} ${zone}`;
