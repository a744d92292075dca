// The name of a Dask worker. The Python SDK derives the same name from a log line's instance: python/ropewalk/logs.py.

/**
 * Uses all digits of an EC2 instance id: the last eight of two in 1,000 could be equal. Our own ids are random enough in eight.
 */
export const workerName = (cluster: string, instance: string): string =>
  `${cluster}-worker-${instance.startsWith('i-') ? instance.slice(2) : instance.slice(-8)}`;

/** The extra worker on the scheduler's instance. */
export const extraWorkerName = (cluster: string): string => `${cluster}-scheduler-worker`;

/** Names of one instance's workers, as `dask worker --nworkers` generates them. */
export const workerNames = (name: string, count: number): string[] =>
  count === 1 ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index}`);
