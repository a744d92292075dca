// Whether the API hears the head instance's agent. Agents report changes only, and reports such as "busy again" or "a client connected" cannot arrive
// while the API or the network is down. A deadline of idleness or of clients therefore counts only while the agent reports on time. The workflow asks
// the API for that when the deadline passes.
import { agentAttemptMs, agentMaxPauseMs, maxWatchdogTimeoutMs } from '../../liveness/limits.ts';
import type { DaskSettings, DaskState } from '../state.ts';
import type { Heard } from '../instance/suspicion.ts';

/** The longest time between an agent's report that hangs and its next attempt. */
export const agentRetryMs = agentAttemptMs + agentMaxPauseMs;

/** The period in which an elapsed deadline counts. */
export interface Window {
  atMs: number;
  untilMs: number;
}

/** Notes a report of the head's agent. After a silence, further reports may still be under way. */
export function noteHeadHeard(dask: DaskState, settings: DaskSettings, nowMs: number): void {
  const { heard } = dask;
  const wasSilent = heard !== undefined && nowMs >= silentFromMs(heard.lastMs, settings);
  dask.heard = { ...heard, lastMs: nowMs, ...(wasSilent ? { againMs: nowMs } : {}) };
}

/**
 * Notes the API's answer since when it has heard the head's agent without a gap. An answer from before a silence that the workflow knows of is
 * outdated.
 */
export function noteHeadStreak(dask: DaskState, settings: DaskSettings, { heardAtMs, sinceMs }: Heard): void {
  const lastMs = dask.heard?.lastMs ?? 0;
  if (lastMs >= silentFromMs(heardAtMs, settings)) return;
  dask.heard = { lastMs: Math.max(lastMs, heardAtMs), againMs: sinceMs };
}

/** Pause before the API is asked again after an answer that changed nothing; it grows, because an outage may last. */
export const askHeadAgainMs = (overdueMs: number): number =>
  Math.min(maxAskPauseMs, Math.max(minAskPauseMs, overdueMs / 4));

export const minAskPauseMs = 30_000;
export const maxAskPauseMs = 600_000;

/** Periods in which a deadline at `atMs` counts, for deadlines that only the head could postpone. */
export function windowsOf(dask: DaskState, settings: DaskSettings, atMs: number): Window[] {
  const always = Number.POSITIVE_INFINITY;
  const { heard } = dask;
  if (heard === undefined) return [];
  const settledMs = heard.againMs === undefined ? 0 : heard.againMs + agentRetryMs;
  return [
    { atMs: Math.max(atMs, settledMs), untilMs: silentFromMs(heard.lastMs, settings) },
    // No agent runs longer than this without the API, so a head that still exists cannot be used.
    { atMs: Math.max(atMs, heard.lastMs + maxWatchdogTimeoutMs), untilMs: always },
  ];
}

/** The time from which the head counts as silent: it reports at least every `aliveEveryMs`. */
const silentFromMs = (lastMs: number, { aliveEveryMs }: DaskSettings): number => lastMs + aliveEveryMs + agentRetryMs;
