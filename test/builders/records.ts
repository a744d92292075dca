// Rows and specifications of jobs and clusters, for tests of the operations on them.
import type { ClusterSpec } from '../../schema/cluster-spec.ts';
import type { JobSpec } from '../../schema/job-spec.ts';
import type { StoredRecord } from '../../store/store.ts';

/** An open row that has no view yet. */
export const aRecord = <V>(number: number): StoredRecord<V> => ({
  ...{ number, workspace: 'w', job: null, name: 'mine', user: 'mia', state: 'open', admissionId: `adm_${number}` },
  ...{
    specRef: `specs/${number}`,
    privateToCreator: false,
    command: 'sleep 1',
    status: 'pending',
    instances: 3,
    hostQueue: null,
  },
  ...{ createdAtMs: 1_000, endedAtMs: null, refusal: null, view: null, viewVersion: 0, viewAtMs: null },
});

const common = {
  v: 1,
  workspace: 'w',
  admissionId: 'adm_7',
  user: 'mia',
  createdAt: new Date(1_000).toISOString(),
} as const;
const place = { provider: 'local', providerQueue: 'local/test', instanceVcpus: 2 };

export const jobSpec: JobSpec = {
  ...common,
  bundleRef: 'vault/job',
  filestore: null,
  machinesInput: { worker: {}, workerPrefix: '', head: {} },
  settings: {
    ...{ name: '', command: 'sleep 1', taskCount: 4, array: '0-3', instances: 3, leaseMs: 90_000, retries: 0 },
    ...{ jobTimeoutMs: null, watchdogTimeoutMs: 1_800_000, ...place },
  },
};

export const clusterSpecOf = (dask: Partial<ClusterSpec['settings']['dask']> = {}): ClusterSpec => ({
  ...common,
  bundleRef: 'vault/cluster',
  caRef: 'ca',
  settings: {
    ...{ name: '', job: null, instances: 3, ...place, registerTimeoutMs: 120_000 },
    watchdogTimeoutMs: 1_800_000,
    dask: {
      ...{ idleTimeoutMs: 1_200_000, noClientTimeoutMs: null, startTimeoutMs: 1_200_000, maxLifetimeMs: null },
      ...{ drainTimeoutMs: 60_000, aliveEveryMs: 60_000, unresponsiveTimeoutMs: 1_200_000, privateToCreator: false },
      adaptive: null,
      useSchedulerPublicIp: true,
      ...dask,
    },
  },
});

/** An empty vault that reports deletions. */
export const emptyVault = (deleted: (ref: string) => void) => ({
  delete: async (ref: string): Promise<void> => deleted(ref),
  open: (): Promise<null> => Promise.resolve(null),
  seal: (): Promise<void> => Promise.resolve(),
});
