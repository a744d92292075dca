// On a real Temporal server: a short request cancels a million tasks of a job, in ids out of order. The workflow task that
// carries it out ends in time, also when a hundred such requests come together.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { controlQueue } from '../../contracts/flush.ts';
import type { Flush, FlushAnswer } from '../../contracts/flush.ts';
import { type JobInput, jobMessages, jobType, type JobView, jobWorkflowId } from '../../contracts/job.ts';
import type { ExchangeAnswer, ExchangeItem } from '../../domain/job/protocol.ts';
import { workflowTaskTimeoutMs } from '../../domain/workflow-limits.ts';
import { sharedTemporal } from '../support/shared-temporal.ts';
import type { TestTemporal } from '../support/temporal-server.ts';

const taskCount = 1_000_000;

let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await sharedTemporal({
    control: {
      loadJob: async () => ({ settings, bundleRef: 'bundle', createdAtMs: 1 }),
      archiveTaskPage: async () => undefined,
      writeView: async () => undefined,
      noteUsage: async () => undefined,
    },
    instances: {
      launchInstances: async () => ({ launched: [], failures: [] }),
      terminateRemains: async () => ({ ids: [], lifetimes: [] }),
    },
  });
});
afterAll(() => temporal.stop());

it('fails no workflow task, and keeps no other job from its work, however often the request comes', async () => {
  const attacked = await start(1);
  const other = await start(2);
  expect((await exchange(attacked, { claim: 1, want: 1 })).grants).toMatchObject([{ task: 0 }]);
  // A running task and some waiting ones keep the job open. Ids out of order were sorted once, a million numbers each time.
  const tasks = '500000-999999,11-499999';
  const asked = Array.from({ length: 100 }, () =>
    attacked.signal(jobMessages.cancelTasks, { tasks, text: 'Not wanted.', by: 'eve' }),
  );
  expect((await exchange(other, { claim: 1, want: 1 })).grants).toMatchObject([{ task: 0 }]);
  await Promise.all(asked);
  const { grants } = await exchange(attacked, { claim: 2, want: 2, running: [1] });
  expect(grants.map(({ task }) => task)).toEqual([1, 2]);
  const view = await attacked.query<JobView>(jobMessages.view);
  expect(view.tasks.cancelled).toBe(taskCount - 11);
  await attacked.signal(jobMessages.cancelTasks, { tasks: '0-10', text: 'Nor these.', by: 'eve' });
  const ended: JobView = await attacked.result();
  expect([ended.status, ended.tasks.cancelled]).toEqual(['cancelled', taskCount]);
  for (const handle of [attacked, other]) {
    const { events } = await handle.fetchHistory();
    const failed = (events ?? []).filter(
      (event) => event.workflowTaskFailedEventAttributes ?? event.workflowTaskTimedOutEventAttributes,
    );
    expect(failed).toEqual([]);
  }
  await other.terminate();
}, 60_000);

const start = (number: number) =>
  temporal.client.workflow.start(jobType, {
    ...{ workflowId: jobWorkflowId(number), taskQueue: controlQueue, args: [{ ...input, number }] },
    workflowTaskTimeout: workflowTaskTimeoutMs,
  });

/** As the API's group commit, for one instance. */
async function exchange(
  handle: Awaited<ReturnType<typeof start>>,
  item: Partial<ExchangeItem> & { claim: number },
): Promise<ExchangeAnswer> {
  const full: ExchangeItem = { instance: 'i_1', want: 0, running: [], results: [], head: false, ...item };
  for (;;) {
    const { items } = await handle.executeUpdate<FlushAnswer<ExchangeAnswer>, [Flush<ExchangeItem>]>(
      jobMessages.exchange,
      { args: [{ items: [full] }] },
    );
    const [first] = items;
    if (first === undefined) throw new Error('no answer');
    if ('ok' in first) return first.ok;
    if (first.error.code !== 'NOT_YET') throw new Error(first.error.message);
  }
}

const settings = {
  ...{
    name: 'many',
    command: 'true',
    taskCount,
    array: `0-${taskCount - 1}`,
    instances: 2,
    leaseMs: 60_000,
    retries: 0,
  },
  ...{ jobTimeoutMs: null, provider: 'local', providerQueue: 'local/test', instanceVcpus: 1 },
};

const input: Omit<JobInput, 'number'> = {
  ...{ workspace: 'default', name: 'many', admissionId: 'adm_1', specRef: 'specs/default/adm_1.json', user: 'tester' },
  ...{ deploymentId: 'd', privateToCreator: false },
};
