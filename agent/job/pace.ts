// How many tasks an agent wants to have in hand beside the one that runs: as many as cover the time of an exchange, and none
// when tasks take long. A pure rule from what was measured; the control plane bounds it by what it says may be held.

export interface Pace {
  /** From one task's start to the next one's, lately; null before the first has ended. */
  taskMs: number | null;
  /** From a question to its answer, lately. */
  exchangeMs: number;
}

/** No task waits longer than this behind another: what has not begun by then is handed back. */
export const maxTurnMs = 1_000;
/** An exchange costs all processes behind it some 10 ms of a processor, whatever it carries: this much work is worth one. */
const minCoverMs = 750;
/** Exchanges that fit into what is in hand: half of it is left when more is asked for. */
const exchangesCovered = 4;
const maxAhead = 99;
/** Of the newest value. A slower one counts in full at once: holding too little costs less than holding too much. */
const weight = 0.3;

export const createPace = (): Pace => ({ taskMs: null, exchangeMs: 0 });

export const taskTook = (pace: Pace, ms: number): Pace => ({ ...pace, taskMs: slowly(pace.taskMs, Math.max(1, ms)) });

/** An outage is no measure of the next exchange. */
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
