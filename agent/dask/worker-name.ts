// What a Dask worker is called. The Python SDK makes the same name of a line's instance: python/ropewalk/logs.py.

/** All digits of an instance of EC2: of its last eight, two of 1,000 could be equal. Ours are as random as need be in eight. */
export const workerName = (cluster: string, instance: string): string =>
  `${cluster}-worker-${instance.startsWith('i-') ? instance.slice(2) : instance.slice(-8)}`;
