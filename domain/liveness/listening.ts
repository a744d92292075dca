// Since when a replica of the API has listened to agents without a gap. Silence is judged by this: an instance that could not be heard, because the
// API was down, stopped or asleep, was not silent. Pure: time is a parameter.

/** Read at the same moment. */
export interface Clocks {
  monotonicMs: number;
  wallMs: number;
}

export interface Listening {
  /** On the monotonic clock. */
  sinceMs: number;
  ticked: Clocks;
}

/** A tick later than this, or a larger jump of the wall clock, ends the period of listening. Ticks come every second. */
export const maxTickGapMs = 10_000;

export const startListening = (now: Clocks): Listening => ({ sinceMs: now.monotonicMs, ticked: now });

export function tick(listening: Listening, now: Clocks): Listening {
  const ranMs = now.monotonicMs - listening.ticked.monotonicMs;
  const passedMs = now.wallMs - listening.ticked.wallMs;
  // When a laptop sleeps, its wall clock continues, but its monotonic clock may not.
  const isGap = ranMs > maxTickGapMs || Math.abs(passedMs - ranMs) > maxTickGapMs;
  return { sinceMs: isGap ? now.monotonicMs : listening.sinceMs, ticked: now };
}

/** False when the last tick is too old: this process may have paused. */
export const isListening = ({ ticked }: Listening, now: Clocks): boolean =>
  now.monotonicMs - ticked.monotonicMs <= maxTickGapMs;

/** Duration of listening, as of the last tick. */
export const listeningForMs = ({ sinceMs, ticked }: Listening): number => ticked.monotonicMs - sinceMs;
