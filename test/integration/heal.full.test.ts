// The healing on a real Temporal server: a workflow that stands still by the known fault goes on, with the update that it
// had answered; one that other code cannot follow is left as it is, and goes on when its own code is back.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createHealActivities } from '../../activities/heal.ts';
import type { HealActivities } from '../../contracts/activities.ts';
import { findingsOf } from '../../ops/doctor/stuck-workflows.ts';
import { findStuckWorkflows } from '../../ops/stuck-workflows.ts';
import { createDirectoryObjects } from '../../platform/objects/directory.ts';
import { createReplayer } from '../../platform/replayer.ts';
import { type HealInput, type HealReport, healType } from '../../contracts/heal.ts';
import { controlQueue } from '../../contracts/flush.ts';
import { eventually } from '../support/eventually.ts';
import { dieInTask, fixture as workflowsPath, standStill, updatesLast, withWorker } from '../support/stuck.ts';
import type { Scene } from '../support/stuck.ts';
import { sharedTemporal } from '../support/shared-temporal.ts';
import type { TestTemporal } from '../support/temporal-server.ts';

const deploymentId = 'dep_own';
const taskQueue = 'fixtures';

describe('the healing', () => {
  let temporal: TestTemporal;
  let native: NativeConnection;
  let objects: string;
  let real: HealActivities;
  const counted: string[] = [];
  let buildId = '';
  beforeAll(async () => {
    objects = await mkdtemp(join(tmpdir(), 'ropewalk-heal-'));
    temporal = await sharedTemporal({
      control: { healStandstills: (input: HealInput) => real.healStandstills(input) },
      instances: { nothing: async () => null },
    });
    native = await NativeConnection.connect({ address: temporal.address });
    const { client } = temporal;
    const onStandstill = (workflowId: string, outcome: string): void => void counted.push(`${workflowId} ${outcome}`);
    const replayer = { violation: createReplayer({ workflowsPath }), buildId: () => buildId };
    real = createHealActivities({ client, objects: createDirectoryObjects(objects), replayer, onStandstill });
    const knows = (workflowId: string, view: object): Promise<unknown> =>
      client.workflow.start('knows', { workflowId, taskQueue, args: [view], memo: { deploymentId } });
    await knows('deployment', { workspaces: ['w'] });
    await knows('workspace/w', {
      holders: [{ number: 7, kind: 'job' }, ...[8, 9].map((number) => ({ number, kind: 'cluster' }))],
    });
  });
  afterAll(async () => {
    await native?.close();
    await temporal?.stop();
    await rm(objects, { recursive: true, force: true });
  });

  let runs = 0;
  const heal = (wishes: Partial<HealInput> = {}): Promise<HealReport> =>
    temporal.client.workflow.execute<(input: HealInput) => Promise<HealReport>>(healType, {
      workflowId: `test-heal-${++runs}`,
      taskQueue: controlQueue,
      args: [{ deploymentId, dryRun: false, ...wishes }],
    });
  const scene = (code: Scene['code']): Scene => ({ client: temporal.client, native, taskQueue, code });
  const handleOf = (workflowId: string) => temporal.client.workflow.getHandle(workflowId);
  const note = (workflowId: string): Promise<number> => handleOf(workflowId).executeUpdate<number, []>('note');
  const fails = (workflowId: string): Promise<boolean> =>
    eventually(async () => ((await handleOf(workflowId).describe()).raw.pendingWorkflowTask?.attempt ?? 0) >= 3);

  it('resets what the known fault stopped, once, and nothing else', async () => {
    const faulty = scene({ workflowsPath });
    const right = scene({ workflowsPath, interceptors: updatesLast });
    await standStill(faulty, 'cluster/7');
    await standStill(right, 'cluster/8');
    const worker = await Worker.create({
      connection: native,
      namespace: temporal.client.options.namespace,
      taskQueue,
      workflowsPath,
    });
    await worker.runUntil(async () => {
      // Of 7 this is the code that wrote its history; of 8 it is not.
      for (const id of ['cluster/7', 'cluster/8']) await handleOf(id).signal('wake');
      await Promise.all(['cluster/7', 'cluster/8'].map(fails));
      const seven = { workflowId: 'cluster/7', text: expect.stringContaining('Update machine does not handle') };
      const eight = { workflowId: 'cluster/8', outcome: 'told', text: expect.stringContaining('Nondeterminism error') };

      const dry = await healNow(temporal.client, true);
      expect(dry?.healed).toHaveLength(2);
      expect(dry?.healed).toEqual(expect.arrayContaining([{ ...seven, outcome: 'would be reset' }, eight]));
      expect(counted).toEqual([]);
      const doctor = findingsOf(dry).map(({ check, state, fix }) => [check, state, fix]);
      expect(doctor).toEqual(
        expect.arrayContaining([
          ['cluster/7', 'broken', expect.stringContaining('doctor --heal')],
          ['cluster/8', 'broken', expect.stringContaining('docs/operations.md')],
        ]),
      );

      const report = await heal();
      expect(report).toMatchObject({ refusal: null, looked: 4, unknown: [] });
      expect(report.healed).toEqual(expect.arrayContaining([{ ...seven, outcome: 'reset' }, eight]));
      expect(counted.toSorted()).toEqual(['cluster/7 reset', 'cluster/8 told']);
      // The update that it had answered counts: it was applied again.
      expect(await note('cluster/7')).toBe(2);
      expect((await heal()).healed).toEqual([eight]);
    });
    // The right code is back, and found upon the next attempt; until then the server refuses updates.
    const noted = eventually(() => note('cluster/8'), { timeoutMs: 60_000, intervalMs: 250 });
    expect(await withWorker(right, () => noted)).toBe(2);
  });

  it('finds the known fault by a replay when the server has kept no word of it', async () => {
    const faulty = scene({ workflowsPath });
    await standStill(faulty, 'cluster/9');
    await handleOf('cluster/9').signal('wake');
    // Of a workflow task the server writes down the first failure alone, and that was a time-out.
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
      expect((await heal()).healed).toEqual([{ ...nine, outcome: 'told' }]);
      buildId = worker.options.buildId ?? '';
      expect((await heal()).healed).toEqual([{ ...nine, outcome: 'reset' }]);
      expect(await note('cluster/9')).toBe(2);
    });
  });

  it('looks also at what neither the deployment nor a workspace tells it of', async () => {
    await withWorker(scene({ workflowsPath }), async () => {
      const before = (await heal({ dryRun: true })).looked;
      const handle = await temporal.client.workflow.start('knows', {
        workflowId: 'cluster/4711',
        taskQueue,
        args: [{}],
      });
      await eventually(async () => (await heal({ dryRun: true })).looked === before + 1);
      await handle.terminate();
    });
  });

  it('does nothing for another deployment than the namespace’s', async () => {
    expect(await heal({ deploymentId: 'dep_other' })).toMatchObject({
      refusal: expect.stringContaining('dep_own'),
      looked: 0,
    });
  });
});
