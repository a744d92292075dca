// The number of tasks that an agent holds beside the running one: as many as cover the time of an exchange, and none when tasks
// are long. A pure rule from measurements; the control plane bounds it.

export interface Pace {
  /** Recent time from one task's start to the next one's; null before the first has ended. */
  taskMs: number | null;
  /** Recent time from a request to its answer. */
  exchangeMs: number;
}

/** No task waits longer than this behind another; later it is returned. */
export const maxTurnMs = 1_000;
/** An exchange costs all processes together some 10 ms of a processor, whatever its content: this much work is worth one. */
const minCoverMs = 750;
/** Exchanges covered by the held tasks: more are requested when half of them are left. */
const exchangesCovered = 4;
const maxAhead = 99;
/** Weight of the newest value. A slower one counts in full at once: holding too few tasks costs less than holding too many. */
const weight = 0.3;

export const createPace = (): Pace => ({ taskMs: null, exchangeMs: 0 });

export const taskTook = (pace: Pace, ms: number): Pace => ({ ...pace, taskMs: slowly(pace.taskMs, Math.max(1, ms)) });

/** Capped, because an outage does not predict the next exchange. */
export const exchangeTook = (pace: Pace, ms: number): Pace => ({
  ...pace,
  exchangeMs: slowly(pace.exchangeMs, Math.min(maxTurnMs, Math.max(0, ms))),
});

export function aheadFor({ taskMs, exchangeMs }: Pace): number {
  if (taskMs === null) return 0;
  const covers = Math.ceil(Math.max(minCoverMs, exchangesCovered * exchangeMs) / taskMs);
  return Math.min(maxAhead, covers, Math.floor(maxTurnMs / taskMs));
}

const slowly = (mean: number | null, ms: number): number =>
  mean === null || ms > mean ? ms : mean + (ms - mean) * weight;
