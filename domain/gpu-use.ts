// Decides from utilization readings whether requested GPUs are used. Pure; agent/gpus takes the readings.
import { plural } from './units.ts';

/** A GPU counts as idle after this long: longer than a training needs to start or to read its data. */
export const idleGpuAfterMs = 15 * 60_000;
/** Readings this low come from the driver itself. */
const maxIdlePercent = 1;

/** Since when each GPU has been idle; null for a busy one. */
export interface GpuUse {
  idleSinceMs: (number | null)[];
}

/** The report of one instance. */
export interface GpuReport {
  total: number;
  /** GPUs that have been idle for long. */
  idle: number;
  /** Idle time of the first of these; 0 when there is none. */
  idleForMs: number;
}

/** `percents`: one reading per GPU, null where it has none. An unknown reading counts as busy. */
export function noteReading(use: GpuUse | null, percents: readonly (number | null)[], nowMs: number): GpuUse {
  const isIdle = (percent: number | null): boolean => percent !== null && percent <= maxIdlePercent;
  return {
    idleSinceMs: percents.map((percent, index) => (isIdle(percent) ? (use?.idleSinceMs[index] ?? nowMs) : null)),
  };
}

/** The GPUs of one instance in its cluster's state. */
export interface InstanceGpus {
  total: number;
  idle: number;
  /** Null when none is idle. */
  idleSinceMs: number | null;
}

/** The GPUs of all instances of a cluster that have reported theirs. */
export interface IdleGpus {
  total: number;
  /** GPUs that have been idle for long. */
  idle: number;
  /** Since when the first of these has been idle; null when there is none. */
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

/** Parses the output of `nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits`, one line for each GPU: `37`, or `[N/A]`. */
export const parseUtilization = (text: string): (number | null)[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => (/^\d{1,3}$/.test(line) ? Number(line) : null));
