// Decides whether a scheduler answers. Time runs from the first question that has no answer, on the monotonic clock, and time
// in which this agent itself did not run (SIGSTOP, a laptop that slept) does not count as silence: the count begins anew. Pure;
// liveness-check.ts asks the questions.

export interface PulseLimits {
  /** A question, and a check, this often. */
  everyMs: number;
  /** Silence is reported from here on, once, */
  reportAfterMs: number;
  /** and from here on, again and again: now something follows from it. */
  timeoutMs: number;
}

export interface Pulse {
  /** When the first of the questions that have no answer was asked. */
  unansweredSinceMs: number | null;
  lookedAtMs: number;
  /** When silence was last reported; null once its end was reported. */
  reportedAtMs: number | null;
}

export const startPulse = (nowMs: number): Pulse => ({
  unansweredSinceMs: null,
  lookedAtMs: nowMs,
  reportedAtMs: null,
});

/** A question goes out. */
export const asked = (pulse: Pulse, nowMs: number): Pulse => ({
  ...pulse,
  unansweredSinceMs: pulse.unansweredSinceMs ?? nowMs,
});

export const answered = (pulse: Pulse): Pulse => ({ ...pulse, unansweredSinceMs: null });

/** How long it has been silent, as reported; null while that is too short to report. */
export function silentForMs(
  { unansweredSinceMs }: Pulse,
  { reportAfterMs }: PulseLimits,
  nowMs: number,
): number | null {
  const silentMs = unansweredSinceMs === null ? 0 : nowMs - unansweredSinceMs;
  return silentMs >= reportAfterMs ? Math.round(silentMs) : null;
}

/** To be called every `everyMs`. Says whether there is something to report now. */
export function look(pulse: Pulse, limits: PulseLimits, nowMs: number): { pulse: Pulse; notifies: boolean } {
  const wasAway = nowMs - pulse.lookedAtMs > lateChecks * limits.everyMs;
  const seen: Pulse = { ...pulse, lookedAtMs: nowMs, ...(wasAway ? { unansweredSinceMs: null } : {}) };
  const silentMs = silentForMs(seen, limits, nowMs);
  const { reportedAtMs } = seen;
  // Its end is reported when there was an answer, not when the count began anew.
  if (silentMs === null) {
    const notifies = reportedAtMs !== null && !wasAway && seen.unansweredSinceMs === null;
    return { pulse: notifies ? { ...seen, reportedAtMs: null } : seen, notifies };
  }
  const hasEnded = silentMs >= limits.timeoutMs;
  const notifies =
    reportedAtMs === null || (hasEnded && reportedAtMs < (seen.unansweredSinceMs ?? 0) + limits.timeoutMs);
  const repeats = hasEnded && reportedAtMs !== null && nowMs - reportedAtMs >= limits.reportAfterMs;
  return notifies || repeats
    ? { pulse: { ...seen, reportedAtMs: nowMs }, notifies: true }
    : { pulse: seen, notifies: false };
}

/** Twenty minutes: asked every 15 s, reported after two. */
export const pulseLimits = (timeoutMs: number): PulseLimits => ({
  everyMs: Math.min(15_000, timeoutMs / 40),
  reportAfterMs: timeoutMs / 10,
  timeoutMs,
});

/** Looks that may be missed on a busy machine before it counts as absence. */
const lateChecks = 5;
