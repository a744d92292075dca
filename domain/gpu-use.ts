// Whether GPUs that were asked for are used: from readings of how busy each is. Pure; agent/gpus takes the readings.
import { plural } from './units.ts';

/** A GPU that did nothing for this long is unused: longer than the start of a training, or the reading of its data, takes. */
export const idleGpuAfterMs = 15 * 60_000;
/** Readings of so few percent are of the driver's own. */
const maxIdlePercent = 1;

/** Since when each GPU has done nothing; null for one that works. */
export interface GpuUse {
  idleSinceMs: (number | null)[];
}

/** What is reported of an instance. */
export interface GpuReport {
  total: number;
  /** Those that have done nothing for long. */
  idle: number;
  /** How long the first of these has done nothing; 0 without one. */
  idleForMs: number;
}

/** `percents`: of each GPU, null where it cannot say. What cannot be known counts as work. */
export function noteReading(use: GpuUse | null, percents: readonly (number | null)[], nowMs: number): GpuUse {
  const isIdle = (percent: number | null): boolean => percent !== null && percent <= maxIdlePercent;
  return {
    idleSinceMs: percents.map((percent, index) => (isIdle(percent) ? (use?.idleSinceMs[index] ?? nowMs) : null)),
  };
}

/** Of an instance, as its cluster remembers it. */
export interface InstanceGpus {
  total: number;
  idle: number;
  /** Null without an idle one. */
  idleSinceMs: number | null;
}

/** Of all instances of a cluster that have reported theirs. */
export interface IdleGpus {
  total: number;
  /** Those that have done nothing for long. */
  idle: number;
  /** Since when the first of these has; null without one. */
  sinceMs: number | null;
}

/** `2 of 4 GPUs have done nothing` */
export const idleGpusText = ({ idle, total }: IdleGpus): string =>
  `${idle} of ${plural(total, 'GPU')} ${idle === 1 ? 'has' : 'have'} done nothing`;

export function gpuReport({ idleSinceMs }: GpuUse, afterMs: number, nowMs: number): GpuReport {
  const idle = idleSinceMs.flatMap((sinceMs) => (sinceMs !== null && nowMs - sinceMs >= afterMs ? [sinceMs] : []));
  const idleForMs = idle.length === 0 ? 0 : Math.round(nowMs - Math.min(...idle));
  return { total: idleSinceMs.length, idle: idle.length, idleForMs };
}

/** The lines of `nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits`, one for each GPU: `37`, or `[N/A]`. */
export const parseUtilization = (text: string): (number | null)[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => (/^\d{1,3}$/.test(line) ? Number(line) : null));
