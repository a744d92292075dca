// The durations of a job, with their limits. Each function throws VALIDATION naming the field.
import { RopewalkError } from '../errors.ts';
import { sealedForDays } from '../cluster/limits.ts';
import { minLeaseMs } from './limits.ts';
import { maxWatchdogTimeoutMs, minWatchdogTimeoutMs } from '../liveness/limits.ts';
import { parseDurationMs } from '../units.ts';

/** A longer silence is not allowed, because the task of a dead instance would wait for it. */
export const maxLeaseMs = 24 * 3_600_000;

export function lifeOf(jobTimeoutMs: number): number {
  if (jobTimeoutMs <= sealedForDays * 86_400_000) return jobTimeoutMs;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'jobTimeout',
    message: `jobTimeout: must be at most ${sealedForDays} days.`,
    hint: 'What a job is started with is kept no longer than that: later it could get no new instance going.',
  });
}

export function leasePeriod(value: string | number): number {
  const leaseMs = positiveMs(value, 'lease');
  if (leaseMs >= minLeaseMs && leaseMs <= maxLeaseMs) return leaseMs;
  const message = `lease: must be between ${minLeaseMs / 1_000} second and ${maxLeaseMs / 3_600_000} hours`;
  throw new RopewalkError({ code: 'VALIDATION', message, field: 'lease' });
}

export function watchdogLimit(value: string | number): number {
  const watchdogTimeoutMs = positiveMs(value, 'watchdogTimeout');
  if (watchdogTimeoutMs >= minWatchdogTimeoutMs && watchdogTimeoutMs <= maxWatchdogTimeoutMs) return watchdogTimeoutMs;
  const message = `watchdogTimeout: must be between ${minWatchdogTimeoutMs / 1_000} seconds and ${maxWatchdogTimeoutMs / 86_400_000} days`;
  throw new RopewalkError({ code: 'VALIDATION', message, field: 'watchdogTimeout' });
}

/** The limit of timers: 2^31 ms. */
export function taskLimit(value: string | number): number {
  const ms = positiveMs(value, 'taskTimeout');
  if (ms <= maxTaskTimeoutMs) return ms;
  throw new RopewalkError({
    code: 'VALIDATION',
    message: 'taskTimeout: must be at most 24 days',
    field: 'taskTimeout',
  });
}

const maxTaskTimeoutMs = 24 * 86_400_000;

export function positiveMs(value: string | number, field: string): number {
  const ms = parseDurationMs(value, field);
  if (ms > 0) return ms;
  throw new RopewalkError({ code: 'VALIDATION', message: `${field}: must be more than nothing`, field });
}
