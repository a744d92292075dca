// Decides when an agent ends because the control plane has not answered within the limit, on the monotonic clock. Time in which
// this process did not run (a sleeping laptop, SIGSTOP) does not count: a late tick, or a wall clock ahead of the monotonic
// one, shows it (Linux's monotonic clock stops in sleep, macOS's does not), and the count restarts. Pure: watchdog-timer.ts has
// the clocks and carries the decision out.

export interface Clocks {
  monotonicMs: number;
  wallMs: number;
}

export interface Watchdog {
  limitMs: number;
  /** The control plane's last answer, or the start of the count. */
  since: Clocks;
  ticked: Clocks;
}

export type Verdict = 'go on' | 'slept' | 'over';

export const startWatchdog = (limitMs: number, now: Clocks): Watchdog => ({ limitMs, since: now, ticked: now });

export const heard = (state: Watchdog, now: Clocks): Watchdog => ({ ...state, since: now });

/** Must be called every `tickMs`. */
export function tick(state: Watchdog, now: Clocks): { state: Watchdog; verdict: Verdict } {
  const ranMs = now.monotonicMs - state.ticked.monotonicMs;
  const passedMs = now.wallMs - state.ticked.wallMs;
  const gapMs = lateTicks * tickMs(state.limitMs);
  // A wall clock that is set forward looks like sleep, which costs one more wait. One that is set back has no effect.
  const slept = ranMs > gapMs || passedMs - ranMs > gapMs;
  const next = { ...state, ticked: now, since: slept ? now : state.since };
  if (slept) return { state: next, verdict: 'slept' };
  const hasEnded = now.monotonicMs - state.since.monotonicMs >= state.limitMs;
  return { state: next, verdict: hasEnded ? 'over' : 'go on' };
}

/** Frequent enough that a sleep gap is far shorter than the limit, rare enough to cost nothing. */
export const tickMs = (limitMs: number): number => Math.min(longestTickMs, Math.max(shortestTickMs, limitMs / 20));

const longestTickMs = 5_000;
const shortestTickMs = 50;
/** Ticks that may be missed on a busy machine before it counts as sleep. */
const lateTicks = 5;

/** A silent agent would get no answers, so it reports at least three times within its limit. */
export const aliveWithin = (aliveEveryMs: number, limitMs: number): number => Math.min(aliveEveryMs, limitMs / 3);
