// Settings of a Dask cluster for tests.
import type { ClusterSettings, DaskSettings } from '../../domain/cluster/state.ts';

export const daskSettings: DaskSettings = {
  idleTimeoutMs: 300_000,
  noClientTimeoutMs: null,
  startTimeoutMs: 400_000,
  maxLifetimeMs: null,
  drainTimeoutMs: 60_000,
  aliveEveryMs: 20_000,
  unresponsiveTimeoutMs: 250_000,
  privateToCreator: false,
  bundleRef: 'bundle',
  caRef: 'ca',
};

/** The rules write into their settings, so each cluster has its own. */
export function daskClusterSettings(instances: number, dask: DaskSettings = daskSettings): ClusterSettings {
  return {
    name: 'simulated',
    job: null,
    instances,
    provider: 'local',
    providerQueue: 'local/test',
    instanceVcpus: 1,
    registerTimeoutMs: 120_000,
    dask: { ...dask },
  };
}
