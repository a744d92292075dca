// How many workers an instance runs, and what each has of the machine, from the bundle of the cluster.
import { availableParallelism } from 'node:os';

import type { DaskBundle } from '../../schema/agent.ts';
import type { WorkerInput } from './commands.ts';

/** What the cluster's creator wants of each worker instance. */
export function workerSettings(
  bundle: DaskBundle,
): Pick<WorkerInput, 'count' | 'nthreads' | 'memoryLimit' | 'workerClass' | 'workerOptions'> {
  const { workerClass, workerOptions, workersPerMachine, workersPerInstance: count } = bundle;
  const hasOptions = Object.keys(workerOptions).length > 0;
  // `dask worker` shares the threads out by itself.
  const threads = Math.max(1, Math.floor(availableParallelism() / count));
  const sharesThreads = count > 1 && (workerClass !== null || hasOptions);
  return {
    ...(count === 1 ? {} : { count }),
    ...(sharesThreads ? { nthreads: threads } : {}),
    // Dask reads a number below 1 as a part of the machine's memory.
    ...(workersPerMachine === 1 ? {} : { memoryLimit: 1 / workersPerMachine }),
    ...(workerClass === null ? {} : { workerClass }),
    ...(hasOptions ? { workerOptions } : {}),
  };
}
