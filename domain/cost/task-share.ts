// The share of an instance's cost during which it ran one task. An instance runs one task at a time, so the shares of its tasks never overlap and add
// up to at most the instance's cost: starts, pauses and earlier attempts belong to no task.
import { hourlyMicros, type CostInterval } from './interval.ts';

export interface TaskTime {
  /** Noted by its agent or the job's workflow, whose clocks may differ from the cloud's. */
  startedAtMs: number;
  /** Null while the task runs. */
  endedAtMs: number | null;
}

/** In millionths of a dollar, rounded down. Counts only time in which the instance existed. */
export function taskMicros(interval: CostInterval, { startedAtMs, endedAtMs }: TaskTime, nowMs: number): number {
  const fromMs = Math.max(startedAtMs, interval.fromMs);
  const toMs = Math.min(endedAtMs ?? nowMs, interval.toMs ?? nowMs);
  return Math.floor((Math.max(0, toMs - fromMs) * hourlyMicros(interval)) / 3_600_000);
}
