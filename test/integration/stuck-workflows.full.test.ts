// The check for stuck workflows on a real Temporal server: a workflow that is stuck by the known fault goes on, with the update that
// it had answered; one that other code cannot follow is left as it is, and goes on when its own code is back.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createStuckWorkflowActivities } from '../../activities/stuck-workflows.ts';
import { unseenCluster } from '../../activities/ended-views.ts';
import type { StuckWorkflowActivities } from '../../contracts/activities.ts';
import { controlQueue } from '../../contracts/flush.ts';
import type { ClusterView } from '../../contracts/cluster.ts';
import {
  type StuckWorkflowsInput,
  type StuckWorkflowsReport,
  stuckWorkflowsType,
} from '../../contracts/stuck-workflows.ts';
import { stuckAttempts } from '../../domain/stuck/limits.ts';
import { createDirectoryObjects } from '../../platform/objects/directory.ts';
import { createReplayer } from '../../platform/replayer.ts';
import { openMemoryStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { aRecord } from '../builders/records.ts';
import { eventually } from '../support/eventually.ts';
import {
  dieInTask,
  fixture as workflowsPath,
  makeStuck,
  otherFixture,
  updatesLast,
  withWorker,
} from '../support/stuck.ts';
import type { Scene } from '../support/stuck.ts';
import { sharedTemporal } from '../support/shared-temporal.ts';
import { claimNamespace, type TestTemporal } from '../support/temporal-server.ts';

const deploymentId = 'dep_own';
const taskQueue = 'fixtures';

describe('the check for stuck workflows', () => {
  let temporal: TestTemporal;
  let native: NativeConnection;
  let store: Store;
  let objects: string;
  let real: StuckWorkflowActivities;
  const counted: string[] = [];
  let buildId = '';
  beforeAll(async () => {
    objects = await mkdtemp(join(tmpdir(), 'ropewalk-stuck-'));
    store = await openMemoryStore();
    temporal = await sharedTemporal({
      control: { resetStuckWorkflows: (input: StuckWorkflowsInput) => real.resetStuckWorkflows(input) },
      instances: { nothing: async () => null },
    });
    native = await NativeConnection.connect({ address: temporal.address });
    const { client } = temporal;
    await claimNamespace(client, deploymentId);
    real = createStuckWorkflowActivities({
      ...{ client, store, objects: createDirectoryObjects(objects) },
      replayer: { violation: createReplayer({ workflowsPath }), buildId: () => buildId },
      onStuck: (workflowId, outcome) => void counted.push(`${workflowId} ${outcome}`),
    });
  });
  afterAll(async () => {
    await native?.close();
    await temporal?.stop();
    await store?.close();
    await rm(objects, { recursive: true, force: true });
  });

  let runs = 0;
  const check = (input: Partial<StuckWorkflowsInput> = {}): Promise<StuckWorkflowsReport> =>
    temporal.client.workflow.execute<(input: StuckWorkflowsInput) => Promise<StuckWorkflowsReport>>(
      stuckWorkflowsType,
      {
        workflowId: `test-stuck-${++runs}`,
        taskQueue: controlQueue,
        args: [{ deploymentId, autoReset: true, ...input }],
      },
    );
  const scene = (code: Scene['code']): Scene => ({ client: temporal.client, native, taskQueue, code });
  const handleOf = (workflowId: string) => temporal.client.workflow.getHandle(workflowId);
  const note = (workflowId: string): Promise<number> => handleOf(workflowId).executeUpdate<number, []>('note');
  const fails = (workflowId: string): Promise<boolean> =>
    eventually(
      async () => ((await handleOf(workflowId).describe()).raw.pendingWorkflowTask?.attempt ?? 0) >= stuckAttempts,
    );
  /** Fixtures have a type that visibility is not asked for: their rows name them. */
  const hasRow = async (number: number): Promise<void> => {
    const item = { number, workspace: 'w', name: `n-${number}`, user: 'ada', admissionId: `a-${number}`, specRef: 's' };
    const view = unseenCluster(aRecord<ClusterView>(number), null);
    await store.clusters.adopt({ ...item, kind: 'cluster', privateToCreator: false, admittedAtMs: 1, vcpus: 1, view });
  };

  it('resets what the known fault stopped, once, and nothing else', async () => {
    const faulty = scene({ workflowsPath });
    const right = scene({ workflowsPath: otherFixture, interceptors: updatesLast });
    for (const number of [7, 8]) await hasRow(number);
    await makeStuck(faulty, 'cluster/7');
    await makeStuck(right, 'cluster/8');
    const { namespace } = temporal.client.options;
    const worker = await Worker.create({ connection: native, namespace, taskQueue, workflowsPath });
    await worker.runUntil(async () => {
      // This code wrote the history of 7, and not that of 8.
      for (const id of ['cluster/7', 'cluster/8']) await handleOf(id).signal('wake');
      await Promise.all(['cluster/7', 'cluster/8'].map(fails));
      const seven = { workflowId: 'cluster/7', text: expect.stringContaining('Update machine does not handle') };
      const eight = {
        workflowId: 'cluster/8',
        outcome: 'reported',
        text: expect.stringContaining('Nondeterminism error'),
      };

      const off = await check({ autoReset: false });
      expect(off.stuck).toHaveLength(2);
      expect(off.stuck).toEqual(expect.arrayContaining([{ ...seven, outcome: 'would be reset' }, eight]));
      expect(counted.splice(0).toSorted()).toEqual(['cluster/7 would be reset', 'cluster/8 reported']);

      const report = await check();
      expect(report).toMatchObject({ refusal: null, checked: 2, unknown: [] });
      expect(report.stuck).toEqual(expect.arrayContaining([{ ...seven, outcome: 'reset' }, eight]));
      expect(counted.splice(0).toSorted()).toEqual(['cluster/7 reset', 'cluster/8 reported']);
      // The update that it had answered counts: it was applied again.
      expect(await note('cluster/7')).toBe(2);
      expect((await check()).stuck).toEqual([eight]);
    });
    // The right code is back, and found upon the next attempt; until then the server refuses updates.
    const noted = eventually(() => note('cluster/8'), { timeoutMs: 60_000, intervalMs: 250 });
    expect(await withWorker(right, () => noted)).toBe(2);
  });

  it('finds the known fault by a replay when the server has not written it down', async () => {
    const faulty = scene({ workflowsPath });
    await hasRow(9);
    await makeStuck(faulty, 'cluster/9');
    await handleOf('cluster/9').signal('wake');
    // The server writes down only the first failure of a workflow task, and that was a timeout.
    await dieInTask(faulty, 'cluster/9');
    const { namespace } = temporal.client.options;
    const worker = await Worker.create({ connection: native, namespace, taskQueue, workflowsPath });
    await worker.runUntil(async () => {
      await fails('cluster/9');
      const nine = { workflowId: 'cluster/9', text: expect.stringContaining('Nondeterminism error') };
      buildId = 'of another worker';
      expect((await check()).stuck).toEqual([{ ...nine, outcome: 'reported' }]);
      buildId = worker.options.buildId ?? '';
      expect((await check()).stuck).toEqual([{ ...nine, outcome: 'reset' }]);
      expect(await note('cluster/9')).toBe(2);
    });
  });

  it('also checks workflows that have no row', async () => {
    const before = (await check()).checked;
    // No worker has this queue: it is open until it is terminated.
    const options = { workflowId: 'cluster/4711', taskQueue: 'none', args: [] };
    const handle = await temporal.client.workflow.start('cluster', options);
    await eventually(async () => (await check()).checked === before + 1);
    await handle.terminate();
  });

  it('checks nothing in the namespace of another deployment', async () => {
    expect(await check({ deploymentId: 'dep_other' })).toMatchObject({
      refusal: expect.stringContaining('dep_own'),
      checked: 0,
    });
  });
});
