// When a run of a workflow continues as new. Pure.
import { maxEventsOfOldRun, maxEventsOfRun, oldRunAfterMs } from './workflow-limits.ts';

/**
 * A busy run may grow long, because continuing as new copies its state. A Temporal worker replays many slow runs when it starts, so these stay short.
 */
export const isLongRun = ({ events, ageMs }: { events: number; ageMs: number }): boolean =>
  events >= (ageMs >= oldRunAfterMs ? maxEventsOfOldRun : maxEventsOfRun);

/**
 * How long a cluster's run that wants to continue as new waits for terminations and inspections in flight; it launches nothing meanwhile. Most finish
 * within seconds; the next run repeats the others.
 */
export const maxLeavingMs = 30_000;
