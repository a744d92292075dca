// Converts the scheduler's state from Dask workers to instances, which the control plane counts. The workers of one instance
// become one, under its name; the extra worker on the scheduler's instance is omitted. Pure.
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
  // The extra worker's share needs no instance.
  const wanted = Math.max(0, state.adaptiveTarget - extras);
  return { ...state, adaptiveTarget: Math.ceil(wanted / workersPerInstance), workers: [...groups.values()] };
}

/** The instance name of `NAME-1`; any other name belongs to a manually started worker. */
function instanceNameOf(worker: string, workersPerInstance: number): string {
  const [, name, index] = /^(.+)-(\d{1,2})$/.exec(worker) ?? [];
  return name === undefined || workersPerInstance === 1 || Number(index) >= workersPerInstance ? worker : name;
}

const together = (a: SchedulerWorker, b: SchedulerWorker): SchedulerWorker => ({
  ...a,
  // A state other than running is the one to show.
  status: a.status === 'running' ? b.status : a.status,
  nthreads: a.nthreads + b.nthreads,
  processing: a.processing + b.processing,
  memoryBytes: a.memoryBytes + b.memoryBytes,
  managedBytes: a.managedBytes + b.managedBytes,
});

/** The outcome for an instance: `kept` wins, because one worker keeps data that has no other place. */
export function drainOutcomeOf(outcomes: readonly (DrainOutcome | undefined)[]): DrainOutcome {
  for (const outcome of ['kept', 'deadline', 'drained'] as const) if (outcomes.includes(outcome)) return outcome;
  return 'unknown';
}
