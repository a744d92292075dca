// The check for stuck workflows on a real Temporal server: a workflow that the known fault has stopped continues, with the update
// that it had answered; one that other code cannot replay stays unchanged, and continues when its own code is back.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createStuckWorkflowActivities } from '../../activities/stuck-workflows.ts';
import type { StuckWorkflowActivities } from '../../contracts/activities.ts';
import { controlQueue } from '../../contracts/flush.ts';
import {
  stuckWorkflowsType,
  type StuckWorkflowsInput,
  type StuckWorkflowsReport,
} from '../../contracts/stuck-workflows.ts';
import { findingsOf } from '../../ops/doctor/stuck-workflows.ts';
import { claimNamespace } from '../../ops/init/claim.ts';
import { findStuckWorkflows } from '../../ops/stuck-workflows.ts';
import { createDirectoryObjects } from '../../platform/objects/directory.ts';
import { createReplayer } from '../../platform/replayer.ts';
import { openMemoryStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { aClusterView } from '../store/fixtures.ts';
import { eventually } from '../support/eventually.ts';
import {
  changedFixture as workflowsPath,
  dieInTask,
  fixture,
  makeStuck,
  updatesLast,
  withWorker,
} from '../support/stuck.ts';
import type { Scene } from '../support/stuck.ts';
import { sharedTemporal } from '../support/shared-temporal.ts';
import type { TestTemporal } from '../support/temporal-server.ts';

const deploymentId = 'dep_own';
const taskQueue = 'fixtures';

describe('the check for stuck workflows', () => {
  let temporal: TestTemporal;
  let native: NativeConnection;
  let objects: string;
  let store: Store;
  let real: StuckWorkflowActivities;
  const counted: string[] = [];
  let buildId = '';
  beforeAll(async () => {
    objects = await mkdtemp(join(tmpdir(), 'ropewalk-stuck-workflows-'));
    temporal = await sharedTemporal({
      control: { resetStuckWorkflows: (input: StuckWorkflowsInput) => real.resetStuckWorkflows(input) },
      instances: { nothing: async () => null },
    });
    native = await NativeConnection.connect({ address: temporal.address });
    const { client } = temporal;
    store = await openMemoryStore();
    for (const number of [7, 8, 9]) await store.clusters.adopt(openCluster(number));
    const onStuck = (workflowId: string, outcome: string): void => void counted.push(`${workflowId} ${outcome}`);
    const replayer = { violation: createReplayer({ workflowsPath }), buildId: () => buildId };
    real = createStuckWorkflowActivities({
      client,
      store,
      objects: createDirectoryObjects(objects),
      replayer,
      onStuck,
    });
    const host = { deploymentId, hostId: 'host_1' };
    await claimNamespace(client, { host, home: objects }, { everyMs: 3_600_000, graceMs: 60_000 });
  });
  afterAll(async () => {
    await native?.close();
    await temporal?.stop();
    await store?.close();
    await rm(objects, { recursive: true, force: true });
  });

  let runs = 0;
  const check = (wanted: Partial<StuckWorkflowsInput> = {}): Promise<StuckWorkflowsReport> =>
    temporal.client.workflow.execute<(input: StuckWorkflowsInput) => Promise<StuckWorkflowsReport>>(
      stuckWorkflowsType,
      {
        workflowId: `test-stuck-${++runs}`,
        taskQueue: controlQueue,
        args: [{ deploymentId, autoReset: true, ...wanted }],
      },
    );
  const scene = (code: Scene['code']): Scene => ({ client: temporal.client, native, taskQueue, code });
  const handleOf = (workflowId: string) => temporal.client.workflow.getHandle(workflowId);
  const note = (workflowId: string): Promise<number> => handleOf(workflowId).executeUpdate<number, []>('note');
  const fails = (workflowId: string): Promise<boolean> =>
    eventually(async () => ((await handleOf(workflowId).describe()).raw.pendingWorkflowTask?.attempt ?? 0) >= 3);

  it('resets what the known fault stopped, once, and nothing else', async () => {
    const faulty = scene({ workflowsPath });
    const right = scene({ workflowsPath: fixture, interceptors: updatesLast });
    await makeStuck(faulty, 'cluster/7');
    await temporal.client.workflow.start('timed', { taskQueue, workflowId: 'cluster/8', workflowTaskTimeout: 1_000 });
    expect(await withWorker(right, () => note('cluster/8'))).toBe(1);
    const worker = await Worker.create({
      connection: native,
      namespace: temporal.client.options.namespace,
      taskQueue,
      workflowsPath,
    });
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

      const dry = await findStuckWorkflows(temporal.client, { autoReset: false });
      expect(dry?.stuck).toHaveLength(2);
      expect(dry?.stuck).toEqual(expect.arrayContaining([{ ...seven, outcome: 'would be reset' }, eight]));
      expect(counted.splice(0).toSorted()).toEqual(['cluster/7 would be reset', 'cluster/8 reported']);
      const doctor = findingsOf(dry, new Map()).map(({ check: of, state, fix }) => [of, state, fix]);
      expect(doctor).toEqual(
        expect.arrayContaining([
          ['cluster/7', 'broken', expect.stringContaining('doctor --reset-stuck')],
          ['cluster/8', 'broken', expect.stringContaining('docs/operations.md')],
        ]),
      );

      const report = await check();
      expect(report).toMatchObject({ refusal: null, checked: 2, unknown: [] });
      expect(report.stuck).toEqual(expect.arrayContaining([{ ...seven, outcome: 'reset' }, eight]));
      expect(counted.toSorted()).toEqual(['cluster/7 reset', 'cluster/8 reported']);
      // The answered update counts: it was applied again.
      expect(await note('cluster/7')).toBe(2);
      expect((await check()).stuck).toEqual([eight]);
    });
    // The right code is back, and found upon the next attempt; until then the server refuses updates.
    const noted = eventually(() => note('cluster/8'), { timeoutMs: 60_000, intervalMs: 250 });
    expect(await withWorker(right, () => noted)).toBe(2);
  });

  it('finds the known fault by a replay when the server has kept no word of it', async () => {
    const faulty = scene({ workflowsPath });
    await makeStuck(faulty, 'cluster/9');
    await handleOf('cluster/9').signal('wake');
    // The server records only the first failure of a workflow task, and that was a timeout.
    await dieInTask(faulty, 'cluster/9');
    const worker = await Worker.create({
      connection: native,
      namespace: temporal.client.options.namespace,
      taskQueue,
      workflowsPath,
    });
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

  it('does nothing for another deployment than the namespace’s', async () => {
    expect(await check({ deploymentId: 'dep_other' })).toMatchObject({
      refusal: expect.stringContaining('dep_own'),
      checked: 0,
    });
  });
});

/** A row of a cluster whose workflow is a fixture. */
const openCluster = (number: number): Parameters<Store['clusters']['adopt']>[0] => ({
  ...{ kind: 'cluster', number, workspace: 'w', name: `cluster-${number}`, user: 'ada', admissionId: 'adm_1' },
  ...{ specRef: 'specs/w/adm_1.json', privateToCreator: false, admittedAtMs: 1, vcpus: 1 },
  view: aClusterView('w', number),
});
