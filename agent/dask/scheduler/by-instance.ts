// The control plane counts instances. Where an instance runs several Dask workers, or the scheduler's instance runs one too, the
// agent reports the scheduler's state by instance: the workers of one are one, under its name, and the extra one is none. Pure.
import type { DaskBundle } from '../../../schema/agent.ts';
import { extraWorkerName } from '../worker-name.ts';
import type { DrainOutcome, SchedulerState, SchedulerWorker } from './messages.ts';

export interface Layout {
  workersPerInstance: number;
  /** The name of the worker on the scheduler's instance. */
  extra: string | null;
}

export const layoutOf = (
  { workersPerInstance, extraWorkerOnScheduler }: Pick<DaskBundle, 'workersPerInstance' | 'extraWorkerOnScheduler'>,
  cluster: string,
): Layout => ({ workersPerInstance, extra: extraWorkerOnScheduler ? extraWorkerName(cluster) : null });

export function byInstance(state: SchedulerState | null, { workersPerInstance, extra }: Layout): SchedulerState | null {
  if (state === null || (workersPerInstance === 1 && extra === null)) return state;
  const isExtra = ({ name }: SchedulerWorker): boolean => name === extra;
  const extras = state.workers.filter(isExtra).length;
  const groups = new Map<string, SchedulerWorker>();
  for (const worker of state.workers.filter((each) => !isExtra(each))) {
    const name = instanceNameOf(worker.name, workersPerInstance);
    const known = groups.get(name);
    groups.set(name, known === undefined ? { ...worker, name } : together(known, worker));
  }
  // What the extra one does, no instance needs to do.
  const wanted = Math.max(0, state.adaptiveTarget - extras);
  return { ...state, adaptiveTarget: Math.ceil(wanted / workersPerInstance), workers: [...groups.values()] };
}

/** The instance's own name of `NAME-1`; any other is of a worker that was started by hand. */
function instanceNameOf(worker: string, workersPerInstance: number): string {
  const [, name, index] = /^(.+)-(\d{1,2})$/.exec(worker) ?? [];
  return name === undefined || workersPerInstance === 1 || Number(index) >= workersPerInstance ? worker : name;
}

const together = (a: SchedulerWorker, b: SchedulerWorker): SchedulerWorker => ({
  ...a,
  // What is not running is what there is to see.
  status: a.status === 'running' ? b.status : a.status,
  nthreads: a.nthreads + b.nthreads,
  processing: a.processing + b.processing,
  memoryBytes: a.memoryBytes + b.memoryBytes,
  managedBytes: a.managedBytes + b.managedBytes,
});

/** Of an instance whose workers were drained: one that holds what has no other place keeps it. */
export function drainOutcomeOf(outcomes: readonly (DrainOutcome | undefined)[]): DrainOutcome {
  for (const outcome of ['kept', 'deadline', 'drained'] as const) if (outcomes.includes(outcome)) return outcome;
  return 'unknown';
}
