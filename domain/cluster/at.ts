// The state of a cluster at a past time: a fold of its history up to then, joined with the cost ledger's entries of its instances.
import { microsPerHour, totalCost } from '../cost/amount.ts';
import type { CostInterval } from '../cost/interval.ts';
import type { Market } from '../offers/offer.ts';
import type { Reason } from '../reason.ts';
import { eventOf, type InstanceChange, type Moment, type NumberedEvent } from './history.ts';
import { maxEventsKept } from './limits.ts';
import { type ClusterStatus, type InstanceState, type ProcessState, type Stage, stageNames } from './statuses.ts';

export interface InstanceAt {
  id: string;
  role: CostInterval['role'];
  type: string;
  zone: string;
  market: Market;
  state: InstanceState;
  process: ProcessState | null;
  stages: Stage[];
}

export interface ClusterAt {
  status: ClusterStatus;
  reason: Reason | null;
  /** Instances wanted. */
  target: number;
  instances: InstanceAt[];
  /** Dask workers that had started and were not leaving; 0 for the cluster of a job. */
  workersStarted: number;
  /** The newest ones. */
  events: NumberedEvent[];
  /** Millionths of a dollar. */
  micros: number;
  microsPerHour: number;
}

export interface Fold {
  lastSeq: number;
  /** Null before its workflow's first turn of the loop. */
  status: Pick<ClusterAt, 'status' | 'reason' | 'target'> | null;
  instances: Map<
    string,
    Omit<InstanceChange, 'kind' | 'reached' | 'state'> & { state: InstanceState; stages: Stage[] }
  >;
  events: ClusterAt['events'];
}

export const createFold = (): Fold => ({
  ...{ lastSeq: 0, status: null, instances: new Map(), events: [] },
});

/** Moments are applied in the order of their numbers; one that was applied before changes nothing. */
export function applyMoment(fold: Fold, moment: Moment): void {
  if (moment.seq <= fold.lastSeq) return;
  fold.lastSeq = moment.seq;
  switch (moment.kind) {
    case 'event':
      fold.events.push(eventOf(moment));
      if (fold.events.length > maxEventsKept) fold.events.shift();
      return;
    case 'status': {
      const { status, reason, target } = moment;
      fold.status = { status, reason, target };
      return;
    }
    case 'instance': {
      const { id, state, process, isLeaving, reached } = moment;
      if (state === 'gone') fold.instances.delete(id);
      else {
        const stages = [...(fold.instances.get(id)?.stages ?? []), ...reached].toSorted(byStage);
        fold.instances.set(id, { id, state, process, isLeaving, stages });
      }
    }
  }
}

const byStage = (a: Stage, b: Stage): number => stageNames.indexOf(a.name) - stageNames.indexOf(b.name);

/** Adds facts that the history lacks. `view`: the cluster's view, read before the history. */
export function withView(
  at: ClusterAt,
  fold: Fold,
  view: Pick<ClusterAt, 'status' | 'reason' | 'target'> & { endedAtMs: number | null },
  atMs: number,
): ClusterAt {
  const { endedAtMs, status, reason, target } = view;
  // Its workflow may have ended without recording its end.
  if (endedAtMs !== null && endedAtMs <= atMs) return { ...at, status, reason, instances: [], workersStarted: 0 };
  if (fold.status !== null) return at;
  // Before its workflow's first turn; a cluster in status `waiting` has no workflow.
  return { ...at, target, ...(status === 'waiting' ? { status, reason } : {}) };
}

/** `costs`: the ledger entries of the cluster. An instance appears with the change that records its launch. */
export function clusterAt(fold: Fold, costs: readonly CostInterval[], atMs: number): ClusterAt {
  const entries = new Map(costs.map((entry) => [entry.instance, entry]));
  const instances = [...fold.instances.values()];
  const started = instances.filter(({ id, state, process, isLeaving }) => {
    return state === 'ready' && process === 'started' && !isLeaving && entries.get(id)?.role === 'worker';
  });
  const existing = costs.filter(({ fromMs, toMs }) => fromMs <= atMs && (toMs === null || toMs > atMs));
  return {
    ...(fold.status ?? { status: 'pending', reason: null, target: 0 }),
    instances: instances.flatMap(({ id, state, process, stages }) => {
      const entry = entries.get(id);
      if (entry === undefined) return [];
      const { role, type, zone, market } = entry;
      return [{ id, role, type, zone, market, state, process, stages }];
    }),
    workersStarted: started.length,
    events: fold.events,
    micros: totalCost(costs, atMs),
    microsPerHour: microsPerHour(
      existing.map((entry) => ({ ...entry, toMs: null })),
      atMs,
    ),
  };
}
