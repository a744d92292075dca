// Since when a replica of the API has been listening to agents without a gap. Silence is judged by this: an instance that could
// not be heard, because the API was down, stopped or asleep, has not been silent. Pure: time is a parameter.

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

/** A tick that comes later than this, or a wall clock that jumps by more, ends the time of listening. Ticks come every second. */
export const maxTickGapMs = 10_000;

export const startListening = (now: Clocks): Listening => ({ sinceMs: now.monotonicMs, ticked: now });

export function tick(listening: Listening, now: Clocks): Listening {
  const ranMs = now.monotonicMs - listening.ticked.monotonicMs;
  const passedMs = now.wallMs - listening.ticked.wallMs;
  // The wall clock of a laptop that slept goes on, and its monotonic clock may not.
  const isGap = ranMs > maxTickGapMs || Math.abs(passedMs - ranMs) > maxTickGapMs;
  return { sinceMs: isGap ? now.monotonicMs : listening.sinceMs, ticked: now };
}

/** False when the last tick is too long ago: this process may have paused. */
export const isListening = ({ ticked }: Listening, now: Clocks): boolean =>
  now.monotonicMs - ticked.monotonicMs <= maxTickGapMs;

/** As of the last tick. */
export const listeningForMs = ({ sinceMs, ticked }: Listening): number => ticked.monotonicMs - sinceMs;
