// The part of an instance's cost in which it ran one task. An instance runs one task at a time, so that the shares of its tasks,
// which never overlap, add up to no more than the instance has cost: starts, pauses and earlier attempts belong to no task.
import { pricedMs } from './amount.ts';
import type { CostInterval } from './interval.ts';

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
  const beside = Math.max(0, toMs - fromMs) * (interval.diskMicrosPerHour + interval.addressMicrosPerHour);
  return Math.floor((pricedMs(interval, fromMs, toMs) + beside) / 3_600_000);
}
