// Idle GPUs of a cluster, from the reports of its agents.
import { idleGpusText, type GpuReport, type IdleGpus } from '../../gpu-use.ts';
import { plural } from '../../units.ts';
import { addEvent } from '../notes.ts';
import type { ClusterInstance, ClusterState } from '../state.ts';

export interface ClusterGpus extends IdleGpus {
  /** Ids of the instances with an idle GPU. */
  instances: string[];
}

/** Minimum time between events: a thousand instances become idle one after the other. */
const eventEveryMs = 15 * 60_000;
const maxNamed = 5;

export function noteGpus(state: ClusterState, instance: ClusterInstance, report: GpuReport, nowMs: number): void {
  if (instance.agent === null) return;
  const before = clusterGpus(state);
  const { total, idle, idleForMs } = report;
  instance.agent.gpus = { total, idle: Math.min(idle, total), idleSinceMs: idle === 0 ? null : nowMs - idleForMs };
  const after = clusterGpus(state);
  if (after === null) return;
  const last = state.events.findLast(({ code }) => code === 'IDLE_GPU' || code === 'GPU_IN_USE');
  const wasIdle = last?.code === 'IDLE_GPU';
  if (after.idle === 0) {
    if (wasIdle) addEvent(state, nowMs, 'GPU_IN_USE', 'no GPU is idle any more');
    return;
  }
  if (after.idle <= (before?.idle ?? 0) && wasIdle) return;
  if (wasIdle && nowMs - last.atMs < eventEveryMs) return;
  addEvent(state, nowMs, 'IDLE_GPU', `${idleForText(after, nowMs)} (${named(after.instances)})`);
}

/** Null until an instance has reported GPUs. */
export function clusterGpus(state: Pick<ClusterState, 'instances'>): ClusterGpus | null {
  const known = state.instances.flatMap(({ id, agent, state: is }) =>
    agent?.gpus === undefined || is !== 'ready' ? [] : [{ id, ...agent.gpus }],
  );
  if (known.length === 0) return null;
  const sum = (key: 'total' | 'idle'): number => known.reduce((all, each) => all + each[key], 0);
  const idle = known.filter((each) => each.idle > 0);
  const since = idle.flatMap(({ idleSinceMs }) => idleSinceMs ?? []);
  return {
    ...{ total: sum('total'), idle: sum('idle') },
    sinceMs: since.length === 0 ? null : Math.min(...since),
    instances: idle.map(({ id }) => id),
  };
}

/** `2 of 4 GPUs have done nothing for 15 minutes` */
function idleForText(gpus: IdleGpus, nowMs: number): string {
  const minutes = Math.max(1, Math.round((nowMs - (gpus.sinceMs ?? nowMs)) / 60_000));
  return `${idleGpusText(gpus)} for ${plural(minutes, 'minute')}`;
}

const named = (ids: readonly string[]): string =>
  ids.length <= maxNamed ? ids.join(', ') : `${ids.slice(0, maxNamed).join(', ')} and ${ids.length - maxNamed} more`;
