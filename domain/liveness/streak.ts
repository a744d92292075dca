// What one replica of the API keeps of an agent's signs of life, and which of them the database must know. Pure.
import { agentAttemptMs, agentMaxPauseMs, maxHeldMs } from './limits.ts';

/** Times are on a monotonic clock. */
export interface Streak {
  heardMs: number;
  /** Since when it was heard without a gap. */
  sinceMs: number;
  /** The last sign of life that the database knows; null: none of this replica. */
  notedMs: number | null;
  /** The silence after which it is suspected; null while this replica does not know. */
  silentAfterMs: number | null;
}

/** No healthy agent is silent for longer: a poll that is held, an attempt that hangs, and its pauses. */
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

/** What an agent said could not be passed on: until it has said it again, no conclusion may be drawn from hearing it. */
export const interrupt = (known: Streak | undefined, nowMs: number): Streak => ({
  ...{ silentAfterMs: null, ...known },
  ...{ heardMs: nowMs, sinceMs: nowMs, notedMs: null },
});

/**
 * The database lags by an eighth of the silence that counts, so that an agent that speaks is never found silent there. The last word
 * of an agent that has gone quiet is noted too: only what the database has may be forgotten.
 */
export function isNoteDue({ heardMs, notedMs, silentAfterMs }: Streak, nowMs: number): boolean {
  if (notedMs === null) return true;
  if (heardMs <= notedMs) return false;
  return heardMs - notedMs >= (silentAfterMs ?? 0) / 8 || nowMs - heardMs > maxGapMs;
}

/** It has been quiet for so long that nothing is lost by forgetting it: the database has its last sign of life. */
export const isForgettable = ({ heardMs, notedMs }: Streak, nowMs: number): boolean =>
  notedMs === heardMs && nowMs - heardMs > 2 * maxGapMs;
