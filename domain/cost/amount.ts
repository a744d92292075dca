// The cost of an instance within a period, billed as clouds do: by the second, at least a minute.
import { hourlyMicrosAt, type CostInterval } from './interval.ts';

/**
 * EC2 and Compute Engine bill Linux instances by the second with a minimum of one minute (docs.aws.amazon.com, "On-Demand
 * Instances"; cloud.google.com/compute/vm-instance-pricing).
 */
const minimumSeconds = 60;

export interface Period {
  fromMs: number;
  untilMs: number;
}

export interface Amount {
  micros: number;
  /** Without the minimum of a minute. */
  seconds: number;
}

/** Parts of an interval in adjoining periods add up to the whole, because each is the difference of two running totals. */
export function amountIn(interval: CostInterval, { fromMs, untilMs }: Period): Amount {
  const end = Math.min(interval.toMs ?? untilMs, untilMs);
  const start = Math.max(interval.fromMs, fromMs);
  if (end < start || interval.fromMs >= untilMs) return { micros: 0, seconds: 0 };
  const isFirst = interval.fromMs >= fromMs;
  const upTo = totalAt(interval, end);
  const before = isFirst ? { micros: 0, seconds: 0 } : totalAt(interval, start);
  return { micros: upTo.micros - before.micros, seconds: upTo.seconds - before.seconds };
}

/** The total cost so far. */
export const totalCost = (intervals: readonly CostInterval[], nowMs: number): number =>
  intervals.reduce((sum, each) => sum + amountIn(each, { fromMs: 0, untilMs: nowMs }).micros, 0);

/** Hourly cost of the existing instances. */
export const microsPerHour = (intervals: readonly CostInterval[], nowMs: number): number =>
  intervals.reduce((sum, interval) => sum + (interval.toMs === null ? hourlyMicrosAt(interval, nowMs) : 0), 0);

function totalAt(interval: CostInterval, atMs: number): Amount {
  const { fromMs, diskMicrosPerHour, addressMicrosPerHour } = interval;
  const seconds = Math.ceil(Math.max(0, atMs - fromMs) / 1_000);
  const billed = Math.max(minimumSeconds, seconds);
  const ofInstance = pricedMs(interval, fromMs, fromMs + billed * 1_000) / 1_000;
  return { micros: Math.round((ofInstance + seconds * (diskMicrosPerHour + addressMicrosPerHour)) / 3_600), seconds };
}

/** Of the instance alone: each price an hour times the milliseconds of the period in which it holds. */
export function pricedMs(
  { microsPerHour, later = [] }: Pick<CostInterval, 'microsPerHour' | 'later'>,
  fromMs: number,
  untilMs: number,
): number {
  return [{ fromMs, microsPerHour }, ...later].reduce((sum, each, at) => {
    const endMs = Math.min(later[at]?.fromMs ?? untilMs, untilMs);
    return sum + Math.max(0, endMs - Math.max(each.fromMs, fromMs)) * each.microsPerHour;
  }, 0);
}
