// What one job or cluster had cost at times between its first instance and now, or its last instance's end.
import { totalCost } from './amount.ts';
import type { CostInterval } from './interval.ts';

export interface CostAt {
  atMs: number;
  /** Since its start. */
  micros: number;
}

/** At equal distances, the first and the last moment included; empty without an instance. */
export function costOverTime(intervals: readonly CostInterval[], nowMs: number, points: number): CostAt[] {
  if (intervals.length === 0) return [];
  const fromMs = Math.min(...intervals.map((each) => each.fromMs));
  // The minimum of a minute is billed for an instance that ends earlier.
  const untilMs = Math.max(fromMs + 60_000, ...intervals.map(({ toMs }) => toMs ?? nowMs));
  return Array.from({ length: points }, (_, at) => {
    const atMs = Math.round(fromMs + ((untilMs - fromMs) * at) / (points - 1));
    return { atMs, micros: totalCost(intervals, atMs) };
  });
}
