// The user's settings of adaptive scaling.

/** Adaptive scaling with the parameters of Dask's own; counts are workers. */
export interface Adaptive {
  minimum: number;
  maximum: number;
  /** The scheduler requests enough workers to finish its known work in this time. */
  targetDurationMs: number;
  /** A worker is closed after so many consecutive intervals in which it was not needed. */
  waitCount: number;
  /** How often the scheduler evaluates its load. */
  intervalMs: number;
}

/** How long a smaller number of workers must suffice before a worker is closed. The first of the `waitCount` intervals starts this time. */
export const scaleInAfterMs = ({ waitCount, intervalMs }: Adaptive): number => (waitCount - 1) * intervalMs;

/** The same defaults as Coiled's. */
export const adaptiveDefaults = { targetDurationMs: 180_000, waitCount: 24, intervalMs: 5_000 };
/** Workers of a new Dask cluster without a given number (Coiled's default). */
export const defaultAdaptiveRange = { minimum: 4, maximum: 20 };
