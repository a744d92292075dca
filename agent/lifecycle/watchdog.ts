// Decides when an agent ends because the control plane has not answered it for the limit, on the monotonic clock. Time in which
// this process did not run (a laptop that slept, SIGSTOP) does not count: a tick that comes late, or a wall clock ahead of the
// monotonic one, shows it (Linux's monotonic clock stops in sleep, macOS's does not), and the count begins anew. Pure:
// watchdog-timer.ts has the clocks and carries the decision out.

export interface Clocks {
  monotonicMs: number;
  wallMs: number;
}

export interface Watchdog {
  limitMs: number;
  /** When the control plane last answered, or when the count began. */
  since: Clocks;
  ticked: Clocks;
}

export type Verdict = 'go on' | 'slept' | 'over';

export const startWatchdog = (limitMs: number, now: Clocks): Watchdog => ({ limitMs, since: now, ticked: now });

export const heard = (state: Watchdog, now: Clocks): Watchdog => ({ ...state, since: now });

/** To be called every `tickMs`. */
export function tick(state: Watchdog, now: Clocks): { state: Watchdog; verdict: Verdict } {
  const ranMs = now.monotonicMs - state.ticked.monotonicMs;
  const passedMs = now.wallMs - state.ticked.wallMs;
  const gapMs = lateTicks * tickMs(state.limitMs);
  // A wall clock that is only set forward looks the same, which costs one more wait. Set back, it says nothing.
  const slept = ranMs > gapMs || passedMs - ranMs > gapMs;
  const next = { ...state, ticked: now, since: slept ? now : state.since };
  if (slept) return { state: next, verdict: 'slept' };
  const hasEnded = now.monotonicMs - state.since.monotonicMs >= state.limitMs;
  return { state: next, verdict: hasEnded ? 'over' : 'go on' };
}

/** Often enough that a gap of sleep is far shorter than the limit, seldom enough to cost nothing. */
export const tickMs = (limitMs: number): number => Math.min(longestTickMs, Math.max(shortestTickMs, limitMs / 20));

const longestTickMs = 5_000;
const shortestTickMs = 50;
/** Ticks that may be missed on a busy machine before it counts as sleep. */
const lateTicks = 5;

/** An agent that said nothing would hear nothing: it speaks at least three times within its limit. */
export const aliveWithin = (aliveEveryMs: number, limitMs: number): number => Math.min(aliveEveryMs, limitMs / 3);
