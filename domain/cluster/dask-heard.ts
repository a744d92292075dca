// Whether the head of a Dask cluster can be heard. Agents tell changes only, so that "busy again" and "a client is back" do
// not come while our API, or the way to it, is down: what time alone would say of idleness and of clients counts only while
// the head speaks as often as it should.
import { agentAttemptMs, agentMaxPauseMs, maxDeadManMs } from '../limits.ts';
import type { DaskSettings, DaskState } from './state.ts';

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

/** When a deadline at `atMs` counts that only the head could put off. */
export function windowsOf(dask: DaskState, settings: DaskSettings, atMs: number): Window[] {
  const always = Number.POSITIVE_INFINITY;
  const { heard } = dask;
  if (heard === undefined) return [];
  const settledMs = heard.againMs === undefined ? 0 : heard.againMs + agentRetryMs;
  return [
    { atMs: Math.max(atMs, settledMs), untilMs: silentFromMs(heard.lastMs, settings) },
    // No agent lives on for longer without us: whatever is still there is of no use to anybody.
    { atMs: Math.max(atMs, heard.lastMs + maxDeadManMs), untilMs: always },
  ];
}

/** It says at least this often that it lives. */
const silentFromMs = (lastMs: number, { aliveEveryMs }: DaskSettings): number => lastMs + aliveEveryMs + agentRetryMs;
