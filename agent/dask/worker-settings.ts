// The number of workers on an instance and their share of the machine, from the cluster's bundle.
import { availableParallelism } from 'node:os';

import type { DaskBundle } from '../../schema/agent.ts';
import type { WorkerInput } from './commands.ts';

/** The cluster creator's settings for each worker instance. */
export function workerSettings(
  bundle: DaskBundle,
): Pick<WorkerInput, 'count' | 'nthreads' | 'memoryLimit' | 'workerClass' | 'workerOptions'> {
  const { workerClass, workerOptions, workersPerMachine, workersPerInstance: count } = bundle;
  const hasOptions = Object.keys(workerOptions).length > 0;
  // `dask worker` distributes the threads by itself.
  const threads = Math.max(1, Math.floor(availableParallelism() / count));
  const sharesThreads = count > 1 && (workerClass !== null || hasOptions);
  return {
    ...(count === 1 ? {} : { count }),
    ...(sharesThreads ? { nthreads: threads } : {}),
    // Dask reads a number below 1 as a fraction of the machine's memory.
    ...(workersPerMachine === 1 ? {} : { memoryLimit: 1 / workersPerMachine }),
    ...(workerClass === null ? {} : { workerClass }),
    ...(hasOptions ? { workerOptions } : {}),
  };
}
