// What a Dask worker is called. The Python SDK makes the same name of a line's instance: python/ropewalk/logs.py.

/** All digits of an instance of EC2: of its last eight, two of 1,000 could be equal. Ours are as random as need be in eight. */
export const workerName = (cluster: string, instance: string): string =>
  `${cluster}-worker-${instance.startsWith('i-') ? instance.slice(2) : instance.slice(-8)}`;

/** What beside the scheduler runs, on its instance. */
export const extraWorkerName = (cluster: string): string => `${cluster}-scheduler-worker`;

/** Of the workers of one instance, as `dask worker --nworkers` makes them. */
export const workerNames = (name: string, count: number): string[] =>
  count === 1 ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index}`);
