// Failed tasks of an ended job, run again as a new job: its contents, and the right to request it.
import { describe, expect, it } from 'vitest';

import { viewJob } from '../../views/job.ts';
import { taskPageKey } from '../../platform/archive-keys.ts';
import { jobSpec } from '../../schema/job-spec.ts';
import { cloudApi } from './cloud.ts';
import { createTestApi, type TestApi } from './support.ts';

const dayMs = 86_400_000;

interface End {
  status?: 'error' | 'cancelled';
  code?: string;
  /** Cancelled tasks, which have no record. */
  cancelled?: readonly number[];
}

/** Ends a job with failed tasks of these indices; the others are done. */
async function endWith(api: TestApi, number: number, failed: readonly number[], end: End = {}): Promise<void> {
  const { status = 'error', code = 'TASKS_FAILED', cancelled = [] } = end;
  const state = api.workflows.jobs.get(number);
  if (state === undefined) throw new Error('no job');
  const { taskCount } = state.settings;
  const records = Array.from({ length: taskCount }, (_, task) => ({
    ...{ task, attempt: 1, signal: null, instance: 'i_1', startedAtMs: 1, endedAtMs: 2, reason: null },
    ...(failed.includes(task) ? { state: 'error' as const, exitCode: 1 } : { state: 'done' as const, exitCode: 0 }),
  })).filter(({ task }) => !cancelled.includes(task));
  await api.objects.put(taskPageKey('default', number, 0), Buffer.from(JSON.stringify(records)));
  const input = {
    number,
    workspace: 'default',
    name: '',
    admissionId: '',
    specRef: '',
    user: 'root',
    deploymentId: 'd',
  };
  const view = viewJob(state, { ...input, privateToCreator: false });
  const tasks = { ...view.tasks, pending: 0, done: records.length - failed.length, error: failed.length };
  tasks.cancelled = cancelled.length;
  const reason = { code, text: 'it ended', atMs: 1 };
  await api.workflows.endJob({ ...view, tasks, status, reason, endedAtMs: api.now(), pagesWritten: 1 });
}

const retry = (api: TestApi, number: number, body: object = {}) =>
  api.call('POST', `/v1/jobs/${number}/retry`, { body });

async function newestSpec(api: TestApi) {
  const specs = await Promise.all(
    (await api.objects.list('specs', { limit: 10 })).map(async (key) =>
      jobSpec.parse(JSON.parse(Buffer.from((await api.objects.get(key)) ?? []).toString())),
    ),
  );
  return specs.find(({ settings }) => settings.retryOf !== undefined);
}

describe('a retry', () => {
  it('has the failed tasks with their ids and inputs, and every other setting of the old job', async () => {
    const api = await createTestApi();
    const body = { command: ['x', '$A'], mapOver: { values: ['a', 'b', 'c'] }, secretEnv: { A: 's3cret' }, retries: 2 };
    const number = await api.submit(body);
    expect((await retry(api, number)).status).toBe(409);
    await endWith(api, number, [0, 2]);
    const reply = await retry(api, number);
    expect([reply.status, await reply.json()]).toMatchObject([201, { number: number + 1, existing: false }]);
    const spec = await newestSpec(api);
    expect(spec?.settings).toMatchObject({ retryOf: number, array: '0,2', taskCount: 2, instances: 2, retries: 2 });
    const bundle = JSON.parse(Buffer.from((await api.vault.open(spec?.bundleRef ?? '')) ?? []).toString());
    expect(bundle).toMatchObject({
      ...{ command: ['x', '$A'], env: { A: 's3cret' }, taskCount: 3 },
      inputs: { values: ['a', 'c'] },
    });
  });

  it('has its own ids also where they are too many to be shown', async () => {
    const api = await createTestApi();
    const number = await api.submit({ ntasks: 3_000 });
    const failed = Array.from({ length: 3_000 }, (_, index) => index).filter((index) => (index * index) % 7 === 2);
    await endWith(api, number, failed);
    expect((await retry(api, number)).status).toBe(201);
    const again = await (await api.call('GET', `/v1/jobs/${number + 1}`)).json();
    expect([again.tasks.total, again.array.length <= 1_003]).toEqual([failed.length, true]);
    expect(again.array).toMatch(/^3-4,10-11,.*,\.\.\.$/);
    const page = await (await api.call('GET', `/v1/jobs/${number + 1}/tasks?limit=1000`)).json();
    expect(page.items.map(({ id }: { id: number }) => id)).toEqual(failed);
    expect((await api.call('GET', `/v1/jobs/${number + 1}/logs?tasks=${failed.at(-1)}`)).status).toBe(200);
    expect((await api.call('GET', `/v1/jobs/${number + 1}/logs?tasks=5`)).status).toBe(422);
    const body = { tasks: `${failed.at(-1)}` };
    const cancelled = await api.call('POST', `/v1/jobs/${number + 1}/tasks/cancel`, { body });
    expect((await cancelled.json()).tasks.cancelled).toBe(1);
  });

  it('has all tasks that are not done when the job ended with an error of its own', async () => {
    const api = await createTestApi();
    const number = await api.submit({ array: '4-9' });
    await endWith(api, number, [], { code: 'NO_INSTANCES', cancelled: [0, 3, 4, 5] });
    expect((await retry(api, number)).status).toBe(201);
    expect((await newestSpec(api))?.settings).toMatchObject({ array: '4,7-9', taskCount: 4 });
  });

  it('has the tasks that a user cancelled only when asked for them', async () => {
    const api = await createTestApi();
    const number = await api.submit({ ntasks: 3 });
    await endWith(api, number, [], { status: 'cancelled', code: 'CANCELLED', cancelled: [0, 2] });
    const refused = await retry(api, number);
    expect([refused.status, (await refused.json()).error]).toMatchObject([
      409,
      { message: expect.stringContaining('2 were cancelled'), hint: expect.stringContaining('--cancelled') },
    ]);
    expect((await retry(api, number, { cancelled: true })).status).toBe(201);
    expect((await newestSpec(api))?.settings.array).toBe('0,2');
  });

  it('is refused where nothing failed, and when what the job ran is no longer kept', async () => {
    const api = await createTestApi();
    const done = await api.submit({});
    await endWith(api, done, []);
    expect((await retry(api, done)).status).toBe(409);
    const failed = await api.submit({});
    await endWith(api, failed, [0]);
    api.clock.offsetMs += 400 * dayMs;
    const reply = await retry(api, failed);
    expect([reply.status, (await reply.json()).error.code]).toEqual([410, 'EXPIRED']);
  });

  it('is one job for requests at once; while it is open another is refused with its number, unless asked for again', async () => {
    const api = await createTestApi();
    const number = await api.submit({ retries: 1 });
    await endWith(api, number, [0]);
    const answers = await Promise.all(Array.from({ length: 6 }, () => retry(api, number)));
    const bodies = await Promise.all(answers.map((answer) => answer.json()));
    const open = bodies.find((_, index) => answers[index]?.status === 201)?.number;
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409, 409]);
    for (const { error } of bodies.filter((body) => body.error !== undefined)) {
      expect(error.message).toContain(`run again by job ${open}, which is still open`);
    }
    expect((await retry(api, number, { memory: '2x' })).status).toBe(409);
    expect((await retry(api, number, { again: true })).status).toBe(201);
    await endWith(api, open, [0]);
    expect((await retry(api, number)).status).toBe(201);
    // The sealed objects of the refused requests are deleted: the jobs have two at most.
    const bundles = api.objects.keys().filter((key) => key.startsWith('vault/'));
    expect(bundles).toHaveLength(4);
  });

  it('with more memory is launched as larger types', async () => {
    const api = await cloudApi();
    const number = await api.submit({ cpu: 2, memory: '8 GiB' });
    await endWith(api, number, [0]);
    expect((await retry(api, number, { memory: '2x' })).status).toBe(201);
    const spec = await newestSpec(api);
    expect(spec?.machinesInput).toMatchObject({ worker: { memory: '16384 MiB' } });
    expect(spec?.settings.machines?.workerTypes).toContain('m6i.xlarge');
    const named = await api.submit({ vmTypes: ['m6i.large'] });
    await endWith(api, named, [0]);
    const refused = await retry(api, named, { memory: '2x' });
    expect([refused.status, (await refused.json()).error.field]).toEqual([422, 'memory']);
  });
});
