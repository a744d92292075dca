// The cost of a spot instance in each hour of its life: EC2 charges the price that is in effect at the beginning of each of its hours,
// counted from its launch (aws.amazon.com/blogs/aws, "Amazon EC2 Spot Pricing Changes").
import type { Lifetime, PriceChange } from './interval.ts';

/** From a moment on, until the next one of its type and zone. */
export interface SpotPrice {
  atMs: number;
  microsPerHour: number;
}

export interface ChargedPrices {
  /** At the launch. */
  microsPerHour: number;
  later: PriceChange[];
}

const hourMs = 3_600_000;

/**
 * Changes kept of one instance: some bytes each, in a state that carries a thousand instances. Of more of them, neighbours become one
 * with their average: the sum stays, and days between them differ a little.
 */
export const maxPriceChanges = 24;
/** The same while an instance exists, whose prices are read again each hour. Of an instance without an end the last change stays as it is. */
export const maxRunningChanges = 4;

/** `prices`: of its type and zone, in any order. Null when they do not reach back to its launch. Without an end, until the last one. */
export function chargedPrices(
  prices: readonly SpotPrice[],
  { launchedAtMs, endedAtMs }: Pick<Lifetime, 'launchedAtMs' | 'endedAtMs'>,
  max = maxPriceChanges,
): ChargedPrices | null {
  const endMs = endedAtMs ?? Number.POSITIVE_INFINITY;
  const sorted = prices.toSorted((a, b) => a.atMs - b.atMs);
  const first = sorted.findLast(({ atMs }) => atMs <= launchedAtMs);
  if (first === undefined) return null;
  const byHour = new Map<number, number>();
  for (const { atMs, microsPerHour } of sorted.filter((price) => price.atMs > launchedAtMs)) {
    const fromMs = launchedAtMs + Math.ceil((atMs - launchedAtMs) / hourMs) * hourMs;
    if (fromMs < endMs) byHour.set(fromMs, microsPerHour);
  }
  let last = first.microsPerHour;
  const later: PriceChange[] = [];
  for (const [fromMs, microsPerHour] of byHour) {
    if (microsPerHour !== last) later.push({ fromMs, microsPerHour });
    last = microsPerHour;
  }
  return {
    microsPerHour: first.microsPerHour,
    later: endedAtMs === null ? running(later, max) : fewer(later, endedAtMs, max),
  };
}

/** The last price counts from its beginning until the next read. */
function running(later: readonly PriceChange[], max: number): PriceChange[] {
  const last = later.at(-1);
  return last === undefined ? [] : [...fewer(later.slice(0, -1), last.fromMs, max - 1), last];
}

function fewer(later: readonly PriceChange[], endMs: number, max: number): PriceChange[] {
  if (later.length <= max) return [...later];
  const size = Math.ceil(later.length / max);
  return Array.from({ length: Math.ceil(later.length / size) }, (_, at) => {
    const some = later.slice(at * size, (at + 1) * size);
    const [fromMs, untilMs] = [some[0]?.fromMs ?? endMs, later[(at + 1) * size]?.fromMs ?? endMs];
    const sum = some.reduce(
      (total, each, index) => total + each.microsPerHour * ((some[index + 1]?.fromMs ?? untilMs) - each.fromMs),
      0,
    );
    return { fromMs, microsPerHour: Math.round(sum / (untilMs - fromMs)) };
  });
}
