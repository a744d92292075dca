// A new cluster's state.
import { createProjection } from '../projection.ts';
import type { ClusterSettings, ClusterState, DaskState } from './state.ts';

export function createClusterState(
  cluster: { number: number; workspace: string; createdAtMs: number; user: string },
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
    unclearLaunches: 0,
    unavailable: [],
    waiting: null,
    waitedUntilMs: null,
    slots: {},
    instances: [],
    failures: {},
    lostToTell: [],
    jobTold: false,
    alarm: null,
    events: [createdEvent(cluster)],
    projection: createProjection(cluster.createdAtMs),
    terminated: 0,
    launched: 0,
    dask: settings.dask === null ? null : createDaskState(),
  };
}

const createdEvent = ({
  user,
  createdAtMs,
}: {
  user: string;
  createdAtMs: number;
}): ClusterState['events'][number] => ({
  atMs: createdAtMs,
  code: 'CREATED',
  text: `created by ${user}`,
  by: user,
});

function createDaskState(): DaskState {
  return {
    schedulerAddress: null,
    report: null,
    reportedAtMs: null,
    idleSinceMs: null,
    noClientSinceMs: null,
    startedOnce: false,
    adaptive: null,
    fewer: null,
    nextDrainId: 1,
    ordersVersion: 1,
  };
}
