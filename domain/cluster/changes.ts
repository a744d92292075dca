// Finds the changes of a cluster since its history was recorded last.
import { type History, record, type StatusChange } from './history.ts';
import { stagesOf } from './instance/stages.ts';
import { hasReleasedSlot } from './slot/slots.ts';
import type { ClusterInstance, ClusterState } from './state.ts';
import { clusterReason, clusterStatus } from './status.ts';

/** Records each change. The loop of a cluster workflow calls it once a turn; a turn without a change adds nothing. */
export function recordChanges(state: ClusterState, nowMs: number): void {
  const { history } = state;
  const status: StatusChange = {
    kind: 'status',
    status: clusterStatus(state),
    target: state.target,
    reason: clusterReason(state),
  };
  const text = JSON.stringify(status);
  if (text !== history.status) record(history, nowMs, status);
  history.status = text;
  const before = history.instances;
  history.instances = {};
  for (const instance of state.instances) {
    history.instances[instance.id] = recordInstance(history, instance, before[instance.id], nowMs);
  }
  for (const id of Object.keys(before)) {
    if (history.instances[id] !== undefined) continue;
    record(history, nowMs, { kind: 'instance', id, state: 'gone', process: null, isLeaving: true, reached: [] });
  }
}

type Recorded = History['instances'][string];

function recordInstance(
  history: History,
  instance: ClusterInstance,
  before: Recorded | undefined,
  nowMs: number,
): Recorded {
  const { id, state, agent } = instance;
  const process = agent?.process?.state ?? null;
  const isLeaving = isLeavingInstance(instance);
  const key = `${state} ${process} ${isLeaving} ${Object.keys(instance.stages).length}`;
  if (before !== undefined && before.key === key) return before;
  const stages = stagesOf(instance);
  const reached = stages.filter(({ name }) => !before?.stages.includes(name));
  record(history, nowMs, { kind: 'instance', id, state, process, isLeaving, reached });
  return { key, stages: stages.map(({ name }) => name) };
}

/** A worker that is drained or has released its slot no longer counts. */
const isLeavingInstance = (instance: ClusterInstance): boolean =>
  Boolean(instance.agent?.drain) || hasReleasedSlot(instance);
