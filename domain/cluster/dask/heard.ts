// Whether the head of a Dask cluster can be heard. Agents report changes only, and "busy again" or "a client is back" do not
// arrive while our API, or the way to it, is down: a deadline of idleness or of clients counts only while the head speaks as
// often as it should. The workflow asks the API for that when the deadline comes.
import { agentAttemptMs, agentMaxPauseMs, maxWatchdogTimeoutMs } from '../../liveness/limits.ts';
import type { DaskSettings, DaskState } from '../state.ts';
import type { Heard } from '../instance/suspicion.ts';

/** The longest that an agent takes from a report that hangs to its next attempt. */
export const agentRetryMs = agentAttemptMs + agentMaxPauseMs;

/** From when, and until when, something may be concluded from the time that has passed. */
export interface Window {
  atMs: number;
  untilMs: number;
}

/** The head's agent has spoken. After a silence, more may be on its way. */
export function noteHeadHeard(dask: DaskState, settings: DaskSettings, nowMs: number): void {
  const { heard } = dask;
  const wasSilent = heard !== undefined && nowMs >= silentFromMs(heard.lastMs, settings);
  dask.heard = { ...heard, lastMs: nowMs, ...(wasSilent ? { againMs: nowMs } : {}) };
}

/** The API has said since when it hears the head's agent. What it said before a silence that the workflow knows of is too old. */
export function noteHeadStreak(dask: DaskState, settings: DaskSettings, { heardAtMs, sinceMs }: Heard): void {
  const lastMs = dask.heard?.lastMs ?? 0;
  if (lastMs >= silentFromMs(heardAtMs, settings)) return;
  dask.heard = { lastMs: Math.max(lastMs, heardAtMs), againMs: sinceMs };
}

/** After an answer that changed nothing the API is asked again: soon at first, later seldom, for an outage may last. */
export const askHeadAgainMs = (overdueMs: number): number =>
  Math.min(maxAskPauseMs, Math.max(minAskPauseMs, overdueMs / 4));

export const minAskPauseMs = 30_000;
export const maxAskPauseMs = 600_000;

/** When a deadline at `atMs` counts that only the head could put off. */
export function windowsOf(dask: DaskState, settings: DaskSettings, atMs: number): Window[] {
  const always = Number.POSITIVE_INFINITY;
  const { heard } = dask;
  if (heard === undefined) return [];
  const settledMs = heard.againMs === undefined ? 0 : heard.againMs + agentRetryMs;
  return [
    { atMs: Math.max(atMs, settledMs), untilMs: silentFromMs(heard.lastMs, settings) },
    // No agent lives on for longer without us: whatever is still there is of no use.
    { atMs: Math.max(atMs, heard.lastMs + maxWatchdogTimeoutMs), untilMs: always },
  ];
}

/** It says at least this often that it lives. */
const silentFromMs = (lastMs: number, { aliveEveryMs }: DaskSettings): number => lastMs + aliveEveryMs + agentRetryMs;
