// The part of an instance's cost in which it ran one task. An instance runs one task at a time, so that the shares of its tasks,
// which never overlap, add up to no more than the instance has cost: starts, pauses and earlier attempts belong to no task.
import { hourlyMicros, type CostInterval } from './interval.ts';

export interface TaskTime {
  /** As its agent or the job's workflow noted it; clocks may differ from the cloud's. */
  startedAtMs: number;
  /** Null while it runs. */
  endedAtMs: number | null;
}

/** In millionths of a dollar, rounded down. Only time in which the instance existed counts. */
export function taskMicros(interval: CostInterval, { startedAtMs, endedAtMs }: TaskTime, nowMs: number): number {
  const fromMs = Math.max(startedAtMs, interval.fromMs);
  const toMs = Math.min(endedAtMs ?? nowMs, interval.toMs ?? nowMs);
  return Math.floor((Math.max(0, toMs - fromMs) * hourlyMicros(interval)) / 3_600_000);
}
