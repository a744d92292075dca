// Settings of a Dask cluster for tests.
import type { Adaptive } from '../../domain/cluster/dask/adaptive-settings.ts';
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
  adaptive: null,
  bundleRef: 'bundle',
  caRef: 'ca',
};

export const fewerAfterMs = 60_000;

export const between = (minimum: number, maximum: number): Adaptive => ({
  minimum,
  maximum,
  targetDurationMs: 180_000,
  waitCount: 13,
  intervalMs: fewerAfterMs / 12,
});

/** The rules modify their settings, and each cluster needs its own copy. */
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
