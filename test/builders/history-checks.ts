// Invariant of a cluster's history: replaying it yields the cluster's view.
import { applyMoment, clusterAt, createFold } from '../../domain/cluster/at.ts';
import { recordChanges } from '../../domain/cluster/changes.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import { spendingPerHour } from '../../domain/cost/ledger.ts';
import { viewCluster } from '../../views/cluster.ts';
import { must } from './simulations.ts';

/** The simulation writes nothing to a database: the state holds its whole history and all its cost entries. */
export function checkHistory(state: ClusterState, nowMs: number): void {
  recordChanges(state, nowMs);
  const { held, nextSeq } = state.history;
  recordChanges(state, nowMs);
  must(state.history.nextSeq === nextSeq, () => 'a turn without a change was recorded');
  const fold = createFold();
  let lastMs = 0;
  for (const moment of held) {
    must(moment.atMs >= lastMs, () => `change ${moment.seq} is earlier than the one before it`);
    lastMs = moment.atMs;
    applyMoment(fold, moment);
  }
  const { number, workspace, settings } = state;
  const input = {
    number,
    workspace,
    settings,
    admissionId: 'a',
    user: 'u',
    deploymentId: 'd',
    specRef: null,
    name: '',
  };
  const view = viewCluster(state, input);
  const at = clusterAt(fold, state.costs, nowMs);
  const shown = {
    ...{ status: at.status, reason: at.reason, target: at.target, events: at.events },
    instances: at.instances.map(({ id, role, type, market, state: is, process, stages }) => {
      return { id, role, type, market, state: is, process, stages };
    }),
    workers: state.dask === null ? null : at.workersStarted,
    microsPerHour: at.microsPerHour,
  };
  const live = {
    ...{ status: view.status, reason: view.reason, target: view.target, events: view.events },
    instances: view.instances.map(({ id, role, type, market, state: is, process, stages }) => {
      return { id, role, type, market, state: is, process: process?.state ?? null, stages };
    }),
    workers: view.dask?.workersStarted ?? null,
    microsPerHour: spendingPerHour(state, nowMs),
  };
  must(
    JSON.stringify(shown) === JSON.stringify(live),
    () => `the history says ${JSON.stringify(shown)}, the view ${JSON.stringify(live)}`,
  );
}
