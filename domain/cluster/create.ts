// Creates a cluster's state.
import { createProjection } from '../projection.ts';
import { createHistory } from './history.ts';
import { addEvent } from './notes.ts';
import type { ClusterSettings, ClusterState, DaskSettings, DaskState } from './state.ts';

export function createClusterState(
  cluster: { number: number; workspace: string; createdAtMs: number; user: string },
  settings: ClusterSettings,
): ClusterState {
  const state: ClusterState = {
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
    unknownLaunches: 0,
    unavailable: [],
    waiting: null,
    waitedUntilMs: null,
    slots: {},
    instances: [],
    failures: {},
    lostToReport: [],
    jobNotified: false,
    alarm: null,
    events: [],
    history: createHistory(),
    projection: createProjection(cluster.createdAtMs),
    costs: [],
    terminated: 0,
    launched: 0,
    dask: settings.dask === null ? null : createDaskState(settings.dask),
  };
  addEvent(state, cluster.createdAtMs, 'CREATED', `created by ${cluster.user}`, cluster.user);
  return state;
}

function createDaskState({ adaptive }: DaskSettings): DaskState {
  return {
    schedulerAddress: null,
    report: null,
    reportedAtMs: null,
    idleSinceMs: null,
    noClientSinceMs: null,
    startedOnce: false,
    adaptive,
    fewer: [],
    nextDrainId: 1,
    ordersVersion: 1,
  };
}
