// A cluster that is about to continue as new, on a real Temporal server, while its cloud does not end one instance: a stop of the
// cluster ends the others meanwhile, and does not wait for that one.
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, expect, it } from 'vitest';

import type { ClusterSettings } from '../../domain/cluster/state.ts';
import { clusterMessages, clusterType } from '../../contracts/cluster.ts';
import type { ClusterInput, ClusterView } from '../../contracts/cluster.ts';
import { controlQueue } from '../../contracts/flush.ts';
import { eventually } from '../support/eventually.ts';
import { sharedTemporal } from '../support/shared-temporal.ts';
import type { TestTemporal } from '../support/temporal-server.ts';

const suggestedAt = 40;
const terminated: string[] = [];
let temporal: TestTemporal;
let isLetGo = false;

beforeAll(async () => {
  temporal = await sharedTemporal({
    dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': suggestedAt },
    control: { writeView: async () => undefined },
    instances: {
      launchInstances: async ({ slots }: { slots: { slot: number }[] }) => ({
        launched: slots.map(({ slot }) => ({ id: `i_${slot}`, slot, offer: 'local', zone: 'here' })),
        failures: [],
      }),
      terminateInstances: async ({ ids }: { ids: string[] }) => {
        terminated.push(...ids);
        while (ids.includes('i_2') && !isLetGo) await sleep(50);
        return { lifetimes: [] };
      },
      terminateRemains: async () => ({ ids: [], lifetimes: [] }),
    },
  });
});
afterAll(async () => {
  isLetGo = true;
  await temporal.stop();
});

it('stops before it continues as new', { timeout: 120_000 }, async () => {
  const handle = await temporal.client.workflow.start(clusterType, {
    workflowId: 'cluster/1',
    taskQueue: controlQueue,
    args: [input],
  });
  const view = (): Promise<ClusterView> => handle.query<ClusterView>(clusterMessages.view);
  await eventually(async () => (await view()).instances.length === 3);
  await handle.signal(clusterMessages.releaseInstances, { instances: ['i_2'] });
  await eventually(() => terminated.includes('i_2'));
  while ((await handle.describe()).historyLength <= suggestedAt + 10) {
    await handle.signal(clusterMessages.keepalive, { noClientTimeoutMs: null });
  }

  await handle.signal(clusterMessages.stop, { code: 'JOB_OVER', text: 'its job has ended' });
  await eventually(() => terminated.includes('i_0') && terminated.includes('i_1'));
  expect((await handle.describe()).runId).toBe(handle.firstExecutionRunId);
  isLetGo = true;
  await handle.result();
  expect(terminated.filter((id) => id !== 'i_2').toSorted()).toEqual(['i_0', 'i_1']);
});

const settings: ClusterSettings = {
  name: 'seam',
  job: 1,
  instances: 3,
  provider: 'local',
  providerQueue: 'local/test',
  instanceVcpus: 1,
  registerTimeoutMs: 600_000,
  dask: null,
};

const input: ClusterInput = {
  number: 1,
  workspace: 'default',
  admissionId: 'adm_1',
  user: 'tester',
  deploymentId: 'd',
  settings,
  specRef: null,
  name: 'seam',
};
