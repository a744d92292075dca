// Adaptive scaling in requests.
import { adaptiveDefaults, defaultAdaptiveRange, type Adaptive } from '../../domain/cluster/dask/adaptive-settings.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { positiveMs } from './durations.ts';

export interface AdaptiveInput {
  minimum: number;
  maximum: number;
  targetDuration?: string | number | undefined;
  waitCount?: number | undefined;
  interval?: string | number | undefined;
}

/** @throws RopewalkError VALIDATION naming the field. */
export function readAdaptive({ minimum, maximum, targetDuration, waitCount, interval }: AdaptiveInput): Adaptive {
  if (minimum > maximum) throw invalid('maximum', `maximum: must be at least minimum, which is ${minimum}.`);
  const { targetDurationMs, intervalMs } = adaptiveDefaults;
  return {
    minimum,
    maximum,
    targetDurationMs: targetDuration === undefined ? targetDurationMs : positiveMs(targetDuration, 'targetDuration'),
    waitCount: waitCount ?? adaptiveDefaults.waitCount,
    intervalMs: interval === undefined ? intervalMs : positiveMs(interval, 'interval', { minMs: 250 }),
  };
}

export interface WorkerCount {
  /** Number of the first workers. */
  workers: number;
  adaptive: Adaptive | null;
}

/**
 * A number of workers, or a range in which the number follows the load. `cores` limits both ends of the default range where instances share one
 * machine.
 */
export function readWorkers(asked: number | [number, number] | undefined, cores: number): WorkerCount {
  if (typeof asked === 'number') return { workers: asked, adaptive: null };
  const { minimum, maximum } = defaultAdaptiveRange;
  const [first, last] = asked ?? [Math.min(minimum, cores), Math.min(maximum, cores)];
  if (first > last || last === 0) {
    const message = `workers: the range [${first}, ${last}] has no workers between its ends.`;
    throw invalid('workers', message, 'Write the smaller number first, as in [4, 20].');
  }
  return { workers: first, adaptive: readAdaptive({ minimum: first, maximum: last }) };
}

const invalid = (field: string, message: string, hint = 'Send both, or neither to turn adaptive scaling off.') =>
  new RopewalkError({ code: 'VALIDATION', field, message, hint });
