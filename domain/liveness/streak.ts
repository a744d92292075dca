// One replica's record of an agent's reports, and which of them the database must have. Pure.
import { agentAttemptMs, agentMaxPauseMs, maxHeldMs } from './limits.ts';

/** Times are on a monotonic clock. */
export interface Streak {
  heardMs: number;
  /** Since when the replica has heard it without a gap. */
  sinceMs: number;
  /** The last report that is in the database; null when none of this replica is. */
  notedMs: number | null;
  /** The silence after which the agent is suspected; null while this replica does not know it. */
  silentAfterMs: number | null;
}

/** No healthy agent is silent for longer: a held poll, a hanging attempt, and its pauses. */
export const maxGapMs = maxHeldMs + agentAttemptMs + 2 * agentMaxPauseMs + 10_000;

export function hear(known: Streak | undefined, nowMs: number, silentAfterMs: number | null): Streak {
  if (known === undefined) return { heardMs: nowMs, sinceMs: nowMs, notedMs: null, silentAfterMs };
  const isGap = nowMs - known.heardMs > maxGapMs;
  return {
    ...known,
    heardMs: nowMs,
    sinceMs: isGap ? nowMs : known.sinceMs,
    silentAfterMs: silentAfterMs ?? known.silentAfterMs,
  };
}

/** A report could not be passed on. Until the agent repeats it, the streak proves nothing. */
export const interrupt = (known: Streak | undefined, nowMs: number): Streak => ({
  ...{ silentAfterMs: null, ...known },
  ...{ heardMs: nowMs, sinceMs: nowMs, notedMs: null },
});

/**
 * The database lags by an eighth of the silence limit, so an agent that reports is never found silent there. The last report of a silent agent is
 * written too, because only recorded reports may be forgotten.
 */
export function isNoteDue({ heardMs, notedMs, silentAfterMs }: Streak, nowMs: number): boolean {
  if (notedMs === null) return true;
  if (heardMs <= notedMs) return false;
  return heardMs - notedMs >= (silentAfterMs ?? 0) / 8 || nowMs - heardMs > maxGapMs;
}

/** True for an agent that has been silent for long and whose last report is in the database, so nothing is lost by forgetting it. */
export const isForgettable = ({ heardMs, notedMs }: Streak, nowMs: number): boolean =>
  notedMs === heardMs && nowMs - heardMs > 2 * maxGapMs;
