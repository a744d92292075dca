// What EC2 lately had not got, remembered for all clusters of this process, so that a hundred of them do not each ask for
// the same in vain. A hint and no more: a launch notes with its template what it left out, and every repeat of it, from
// whatever process, leaves out the same; otherwise one client token would stand for two requests.
import { unavailableOfferMs } from '../../domain/limits.ts';
import type { Market } from '../provider.ts';
import type { Given, Pool } from './pools.ts';

export interface Lacking {
  /** Learns from an answer: a pool that gave nothing, a zone that cannot give. Quotas depend on how much is asked for. */
  note(market: Market, given: Pick<Given, 'instances' | 'told'>): void;
  /** A mark for each of the pools that would be asked in vain; none when that would be all of them. */
  marks(market: Market, pools: readonly Pool[]): string;
}

export function createLacking(now: () => number = () => performance.now()): Lacking {
  const untilMs = new Map<string, number>();
  const isLacking = (market: Market, type: string, zone: string): boolean =>
    (untilMs.get(key(market, type, zone)) ?? 0) > now();
  return {
    note(market, { instances, told }) {
      for (const [each, atMs] of untilMs) if (atMs <= now()) untilMs.delete(each);
      const gave = new Set(instances.map(({ type, zone }) => key(market, type, zone)));
      for (const { scope, offer, zone } of told) {
        const type = scope === 'offer' ? offer : '*';
        const reaches = scope === 'offer' || scope === 'zone' || scope === 'subnet';
        if (!reaches || zone === '' || type === '' || gave.has(key(market, type, zone))) continue;
        untilMs.set(key(market, type, zone), now() + unavailableOfferMs);
      }
    },
    marks(market, pools) {
      const left = pools.map(
        ({ type, subnet: { zone } }) => isLacking(market, type, zone) || isLacking(market, '*', zone),
      );
      return left.includes(true) && left.includes(false) ? pack(left) : '';
    },
  };
}

/** Those that are not marked. */
export function unmarked(pools: readonly Pool[], marks: string): Pool[] {
  return pools.filter((_, at) => ((Number.parseInt(marks[at >> 2] ?? '0', 16) >> (at & 3)) & 1) === 0);
}

/** Four to a hexadecimal digit: the value of a tag has 256 characters, a fleet up to 300 pools. */
function pack(left: readonly boolean[]): string {
  const digits = Array.from({ length: Math.ceil(left.length / 4) }, (_, at) =>
    left.slice(4 * at, 4 * at + 4).reduce((digit, mark, bit) => digit + (mark ? 1 << bit : 0), 0),
  );
  return digits.map((digit) => digit.toString(16)).join('');
}

const key = (market: Market, type: string, zone: string): string => `${market} ${type} ${zone}`;
