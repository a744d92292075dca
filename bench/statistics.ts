// Summary of a few measurements: the median and the range. Pure.

export interface Summary {
  median: number;
  lowest: number;
  highest: number;
  count: number;
}

/** Requires at least one value. */
export function summarise(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const lowest = sorted.at(0);
  const highest = sorted.at(-1);
  if (lowest === undefined || highest === undefined) throw new Error('nothing was measured');
  return { median: quantile(sorted, 0.5), lowest, highest, count: sorted.length };
}

/** Interpolates between two values. `sorted` is ascending and not empty. */
export function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  if (below === undefined || above === undefined) throw new Error('nothing was measured');
  return below + (above - below) * (at - Math.floor(at));
}
