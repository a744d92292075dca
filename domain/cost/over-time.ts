// The cost of one job or cluster over time, from its first instance to now or to the end of its last instance.
import { totalCost } from './amount.ts';
import type { CostInterval } from './interval.ts';

export interface CostAt {
  atMs: number;
  /** Since its start. */
  micros: number;
}

/** Points at equal distances, including both ends; empty without an instance. */
export function costOverTime(intervals: readonly CostInterval[], nowMs: number, points: number): CostAt[] {
  if (intervals.length === 0) return [];
  const fromMs = Math.min(...intervals.map((each) => each.fromMs));
  // An instance that ends earlier is billed for one minute.
  const untilMs = Math.max(fromMs + 60_000, ...intervals.map(({ toMs }) => toMs ?? nowMs));
  return Array.from({ length: points }, (_, at) => {
    const atMs = Math.round(fromMs + ((untilMs - fromMs) * at) / (points - 1));
    return { atMs, micros: totalCost(intervals, atMs) };
  });
}
