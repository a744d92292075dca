// A new cluster's state, and the one place that adds to its short list of events.
import { maxEventsKept } from '../limits.ts';
import type { ClusterSettings, ClusterState } from './state.ts';

export function createClusterState(
  cluster: { number: number; workspace: string; createdAtMs: number },
  settings: ClusterSettings,
): ClusterState {
  return {
    v: 1,
    number: cluster.number,
    workspace: cluster.workspace,
    settings,
    createdAtMs: cluster.createdAtMs,
    readyAtMs: null,
    endedAtMs: null,
    stopRequested: null,
    target: settings.instances,
    nextLaunchSeq: 1,
    launches: [],
    launchBackoff: null,
    slots: {},
    instances: [],
    failures: {},
    lostToTell: [],
    jobTold: false,
    alarm: null,
    events: [],
    terminated: 0,
    launched: 0,
  };
}

export function addEvent(state: ClusterState, atMs: number, code: string, text: string): void {
  state.events = [...state.events, { atMs, code, text }].slice(-maxEventsKept);
}
