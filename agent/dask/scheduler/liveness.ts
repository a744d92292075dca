// Decides whether a scheduler answers. Silence counts from the first unanswered ping, on the monotonic clock. Time in which
// this agent itself did not run (SIGSTOP, a sleeping laptop) does not count: the count restarts. Pure; liveness-check.ts sends
// the pings.

export interface PulseLimits {
  /** Interval of pings and checks. */
  everyMs: number;
  /** Silence of this length is reported once. */
  reportAfterMs: number;
  /** Silence of this length is reported repeatedly, because the control plane acts on it. */
  timeoutMs: number;
}

export interface Pulse {
  /** Time of the first unanswered ping. */
  unansweredSinceMs: number | null;
  lookedAtMs: number;
  /** Time of the last report of silence; null after its end was reported. */
  reportedAtMs: number | null;
}

export const startPulse = (nowMs: number): Pulse => ({
  unansweredSinceMs: null,
  lookedAtMs: nowMs,
  reportedAtMs: null,
});

/** Notes a sent ping. */
export const asked = (pulse: Pulse, nowMs: number): Pulse => ({
  ...pulse,
  unansweredSinceMs: pulse.unansweredSinceMs ?? nowMs,
});

export const answered = (pulse: Pulse): Pulse => ({ ...pulse, unansweredSinceMs: null });

/** The reported length of the silence; null while it is too short to report. */
export function silentForMs(
  { unansweredSinceMs }: Pulse,
  { reportAfterMs }: PulseLimits,
  nowMs: number,
): number | null {
  const silentMs = unansweredSinceMs === null ? 0 : nowMs - unansweredSinceMs;
  return silentMs >= reportAfterMs ? Math.round(silentMs) : null;
}

/** Must be called every `everyMs`. Returns whether to send a report now. */
export function look(pulse: Pulse, limits: PulseLimits, nowMs: number): { pulse: Pulse; notifies: boolean } {
  const wasAway = nowMs - pulse.lookedAtMs > lateChecks * limits.everyMs;
  const seen: Pulse = { ...pulse, lookedAtMs: nowMs, ...(wasAway ? { unansweredSinceMs: null } : {}) };
  const silentMs = silentForMs(seen, limits, nowMs);
  const { reportedAtMs } = seen;
  // The end of silence is reported after an answer, not after a restart of the count.
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

/** For twenty minutes: pings every 15 s, reports after two minutes. */
export const pulseLimits = (timeoutMs: number): PulseLimits => ({
  everyMs: Math.min(15_000, timeoutMs / 40),
  reportAfterMs: timeoutMs / 10,
  timeoutMs,
});

/** Checks that may be missed on a busy machine before the agent counts as suspended. */
const lateChecks = 5;
