// When a run of a workflow continues as new. Pure.
import { maxEventsOfOldRun, maxEventsOfRun, oldRunAfterMs } from './workflow-limits.ts';

/**
 * A busy run may grow long: continuing costs it a copy of its state. A run that takes long to get there is one of many that a
 * Temporal worker replays when it starts, and stays short.
 */
export const isLongRun = ({ events, ageMs }: { events: number; ageMs: number }): boolean =>
  events >= (ageMs >= oldRunAfterMs ? maxEventsOfOldRun : maxEventsOfRun);

/**
 * So long a cluster's run that is to continue as new waits for terminations and inspections in flight, and launches nothing
 * meanwhile. Most answer within seconds; the next run begins the others again.
 */
export const maxLeavingMs = 30_000;
