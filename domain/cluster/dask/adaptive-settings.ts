// What a user sets of adaptive scaling.

/** Adaptive scaling, with the meaning that Dask's own has; counts are workers. */
export interface Adaptive {
  minimum: number;
  maximum: number;
  /** The scheduler asks for as many workers as finish its known work in this time. */
  targetDurationMs: number;
  /** A worker is closed after so many intervals in a row without need for it. */
  waitCount: number;
  /** How often the scheduler judges its load. */
  intervalMs: number;
}

/** How long fewer workers must be enough before one is closed: the first of `waitCount` intervals begins it. */
export const scaleInAfterMs = ({ waitCount, intervalMs }: Adaptive): number => (waitCount - 1) * intervalMs;

/** Of adaptive scaling, as Coiled's. */
export const adaptiveDefaults = { targetDurationMs: 180_000, waitCount: 24, intervalMs: 5_000 };
/** Workers of a new Dask cluster when no number is given (Coiled's default). */
export const defaultAdaptiveRange = { minimum: 4, maximum: 20 };
