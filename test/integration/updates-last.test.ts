// On a real Temporal server: updates and signals that one activation holds together, and another one after the other, give the
// same history with the interceptor; without it, a history that no code can replay.
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { afterDeath, bundled, fixture as workflowsPath, makeStuck, updatesLast, withWorker } from '../support/stuck.ts';
import type { Scene } from '../support/stuck.ts';
import { sharedTemporal } from '../support/shared-temporal.ts';
import type { TestTemporal } from '../support/temporal-server.ts';

describe('an update', () => {
  let temporal: TestTemporal;
  let native: NativeConnection;
  beforeAll(async () => {
    const dynamicConfig = { 'limit.historyCount.suggestContinueAsNew': 40 };
    temporal = await sharedTemporal({ dynamicConfig, control: {}, instances: { nothing: async () => null } });
    native = await NativeConnection.connect({ address: temporal.address });
  });
  afterAll(async () => {
    await native?.close();
    await temporal?.stop();
  });

  const scene = (taskQueue: string, code: Scene['code']): Scene => ({
    ...{ client: temporal.client, native, taskQueue, code },
  });
  const replay = async (workflowId: string, code: Scene['code']): Promise<void> =>
    Worker.runReplayHistory(await bundled(code), await temporal.client.workflow.getHandle(workflowId).fetchHistory());

  it('to a worker that has forgotten the workflow leaves a history that replays', async () => {
    const code = { workflowsPath, interceptors: updatesLast };
    await makeStuck(scene('forgotten', code), 'forgotten');
    await expect(replay('forgotten', code)).resolves.toBeUndefined();
  });

  it('without the interceptor leaves a history that does not replay: the fault that the interceptor prevents', async () => {
    await makeStuck(scene('stuck', { workflowsPath }), 'stuck');
    await expect(replay('stuck', { workflowsPath })).rejects.toThrow('Update machine does not handle this event');
  });

  it('after a death in a workflow task leaves a history that replays', async () => {
    const code = { workflowsPath, interceptors: updatesLast };
    await afterDeath(scene('dead', code), 'dead');
    await expect(replay('dead', code)).resolves.toBeUndefined();
  });

  it('is part of what a run hands on that continues as new in the same workflow task', async () => {
    const { client } = temporal;
    const at = scene('continuing', { workflowsPath, interceptors: updatesLast });
    const handle = await client.workflow.start('continuing', {
      ...{ taskQueue: at.taskQueue, workflowId: 'continuing', args: [{ notes: 0 }], workflowTaskTimeout: 1_000 },
    });
    const run = client.workflow.getHandle('continuing', handle.firstExecutionRunId);
    await withWorker(at, () => eventually(async () => (await run.fetchHistory()).events?.some(isDone)));
    // Both wait for a worker, which gets them at once.
    await handle.signal('continue');
    const noted = handle.executeUpdate<number, []>('note');
    await eventually(async () => (await run.describe()).raw.pendingWorkflowTask);
    await withWorker(at, async () => {
      expect(await noted).toBe(1);
      await eventually(async () => (await handle.describe()).runId !== handle.firstExecutionRunId);
      expect(await handle.executeUpdate<number, []>('note')).toBe(2);
    });
    await expect(Worker.runReplayHistory(await bundled(at.code), await run.fetchHistory())).resolves.toBeUndefined();
  });

  it('and a signal after it keep their order when a reset applies them again', async () => {
    const { client } = temporal;
    const at = scene('hearing', { workflowsPath, interceptors: updatesLast });
    const started = { taskQueue: at.taskQueue, workflowId: 'hearing', workflowTaskTimeout: 5_000 };
    const handle = await client.workflow.start('hearing', { ...started, args: [] });
    await withWorker(at, async () => {
      await eventually(async () => (await handle.fetchHistory()).events?.some(isDone));
      await handle.executeUpdate<number, [string]>('note word', { args: ['one'] });
      await handle.signal('say', 'two');
      await handle.executeUpdate<number, [string]>('note word', { args: ['three'] });
      await handle.signal('say', 'end');
      expect(await handle.result()).toBe('one two three end');
    });
    const { events = [] } = await handle.fetchHistory();
    await client.workflowService.resetWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: 'hearing', runId: handle.firstExecutionRunId },
      reason: 'a test',
      requestId: 'once',
      workflowTaskFinishEventId: events?.find(isDone)?.eventId ?? null,
    });
    const again = client.workflow.getHandle('hearing');
    expect(await withWorker(at, () => again.result())).toBe('one two three end');
    // Another worker replays it. A worker completes a failed replay too: a query shows its result.
    expect(await withWorker(at, () => again.query<string>('heard'))).toBe('one two three end');
    await expect(Worker.runReplayHistory(await bundled(at.code), await again.fetchHistory())).resolves.toBeUndefined();
  });
});

const isDone = (event: object): boolean => Object.hasOwn(event, 'workflowTaskCompletedEventAttributes');
