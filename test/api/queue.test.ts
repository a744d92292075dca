// Jobs that wait: for other jobs, and for a free quota.
import { describe, expect, it } from 'vitest';

import type { JobView } from '../../contracts/job.ts';
import { bundleKey } from '../../platform/archive-keys.ts';
import { createTestApi } from './support.ts';

async function open() {
  const api = await createTestApi();
  const read = async (number: number) => (await api.call('GET', `/v1/jobs/${number}`)).json();
  /** As its workflow does at its end. */
  const end = async (number: number, status: JobView['status'] = 'done') => {
    const { view } = await api.deps.views.job('default', number);
    await api.workflows.endJob({ ...view, status, endedAtMs: api.now() });
    await api.work();
  };
  return { ...api, read, end };
}

describe('a job with `after`', () => {
  it('waits visibly, starts after the end of the others however they ended, and says for what it waited', async () => {
    const { submit, read, end, usage } = await open();
    const [one, two] = [await submit({}), await submit({})];
    const number = await submit({ after: [two, one], name: 'third', ntasks: 3 });
    expect(await read(number)).toMatchObject({
      ...{ status: 'waiting', after: [two, one], tasks: { total: 3, pending: 3 } },
      reason: { code: 'WAITING_FOR_JOBS', text: `Starts after the end of job ${two}, job ${one}.` },
    });
    expect((await usage()).running).toBe(2);
    await end(one, 'error');
    expect((await read(number)).reason.text).toBe(`Starts after the end of job ${two}.`);
    await end(two);
    expect(await read(number)).toMatchObject({ status: 'pending', after: [two, one] });
    expect((await usage()).running).toBe(1);
  });

  it('starts at once when the others have ended', async () => {
    const { submit, read, end, work } = await open();
    const one = await submit({});
    await end(one, 'cancelled');
    const number = await submit({ after: [one] });
    await work();
    expect((await read(number)).status).toBe('pending');
  });

  it('is found by its name, keeps it, and can be cancelled before it starts', async () => {
    const { call, submit, read, end, vault, store } = await open();
    const one = await submit({});
    const number = await submit({ after: [one], name: 'later' });
    const { items } = await (await call('GET', '/v1/jobs?name=later&open=true')).json();
    expect(items).toMatchObject([{ number, status: 'waiting', reason: { code: 'WAITING_FOR_JOBS' } }]);
    expect((await call('POST', '/v1/jobs', { body: { command: ['true'], name: 'later' } })).status).toBe(409);
    const bundleRef = bundleKey('default', (await store.jobs.find('default', number))?.admissionId ?? '');
    expect(await vault.open(bundleRef)).not.toBeNull();
    const cancelled = await (await call('POST', `/v1/jobs/${number}/cancel`)).json();
    expect(cancelled).toMatchObject({ status: 'cancelled', reason: { code: 'CANCELLED', text: 'Cancelled by ada.' } });
    await end(one);
    expect(await read(number)).toMatchObject({ status: 'cancelled' });
    expect(await vault.open(bundleRef)).toBeNull();
    await submit({ name: 'later' });
  });
});

describe('a job with `afterOk`', () => {
  it('is cancelled with the name of the job that failed, and so are those that wait for it', async () => {
    const { call, submit, read, end } = await open();
    const one = await submit({});
    const second = await submit({ afterOk: [one], ntasks: 3 });
    const third = await submit({ afterOk: [second] });
    const always = await submit({ after: [second] });
    await end(one, 'error');
    const text = `Job ${one}, which had to succeed first, ended as error.`;
    expect(await read(second)).toMatchObject({ status: 'cancelled', reason: { code: 'DEPENDENCY_FAILED', text } });
    const { items } = await (await call('GET', '/v1/jobs')).json();
    for (const job of [await read(second), items.find((each: { number: number }) => each.number === second)])
      expect(job.tasks).toMatchObject({ total: 3, cancelled: 3, pending: 0 });
    await end(await submit({}));
    expect(await read(third)).toMatchObject({
      status: 'cancelled',
      reason: { text: expect.stringContaining(`Job ${second}`) },
    });
    expect((await read(always)).status).toBe('pending');
  });

  it('can be run again, whole, when the job that failed has been repaired; what a user cancelled in the queue cannot', async () => {
    const { call, submit, read, end, vault, store } = await open();
    const one = await submit({});
    const mapOver = { values: ['a', 'b'] };
    const next = await submit({ afterOk: [one], mapOver, command: ['echo', 'next'], secretEnv: { KEY: 'v' } });
    const unwanted = await submit({ after: [one] });
    await call('POST', `/v1/jobs/${unwanted}/cancel`);
    await end(one, 'error');
    const reply = await call('POST', `/v1/jobs/${next}/retry`, { body: {} });
    expect(reply.status).toBe(201);
    const { number } = await reply.json();
    expect(await read(number)).toMatchObject({ status: 'pending', retryOf: next, array: '0-1', tasks: { total: 2 } });
    const bundleOf = async (job: number) =>
      vault.open(bundleKey('default', (await store.jobs.find('default', job))?.admissionId ?? ''));
    const bundle = JSON.parse(Buffer.from((await bundleOf(number)) ?? []).toString());
    expect(bundle).toMatchObject({ command: ['echo', 'next'], inputs: { values: ['a', 'b'] } });
    const refused = await call('POST', `/v1/jobs/${unwanted}/retry`, { body: {} });
    expect([refused.status, await refused.json()]).toMatchObject([
      409,
      { error: { hint: expect.stringContaining('submit it again') } },
    ]);
  });

  it('starts after success, and does not start when the other one had failed before', async () => {
    const { submit, read, end, work } = await open();
    const one = await submit({});
    const next = await submit({ afterOk: [one] });
    await end(one);
    expect((await read(next)).status).toBe('pending');
    await end(next, 'cancelled');
    const never = await submit({ afterOk: [next] });
    await work();
    expect(await read(never)).toMatchObject({ status: 'cancelled', reason: { code: 'DEPENDENCY_FAILED' } });
  });
});

it('refuses to wait for what the workspace does not have, and names the field', async () => {
  const { call, submit, addToken } = await open();
  const token = await addToken('other');
  const theirs = await submit({}, { token });
  for (const [field, number] of [
    ['after', theirs],
    ['afterOk', theirs],
    ['after', 999],
  ] as const) {
    const reply = await call('POST', '/v1/jobs', { body: { command: ['true'], [field]: [number] } });
    expect([reply.status, await reply.json()]).toMatchObject([404, { error: { code: 'NOT_FOUND', field } }]);
  }
  for (const body of [{ after: [0] }, { afterOk: ['1'] }, { priority: 101 }, { priority: 0.5 }]) {
    expect((await call('POST', '/v1/jobs', { body: { command: ['true'], ...body } })).status).toBe(422);
  }
});

it('a header can name them too', async () => {
  const { call, submit, read } = await open();
  const one = await submit({});
  const script = (line: string) => ({
    command: ['run.sh'],
    files: [{ path: 'run.sh', content: Buffer.from(`#!/bin/sh\n# ROPEWALK ${line}\ntrue\n`).toString('base64') }],
  });
  expect(await read(await submit(script(`after-ok ${one}`)))).toMatchObject({ status: 'waiting', afterOk: [one] });
  const reply = await call('POST', '/v1/jobs', { body: script('after soon') });
  expect([reply.status, await reply.json()]).toMatchObject([
    422,
    { error: { field: 'after', message: expect.stringContaining('Line 2') } },
  ]);
});

it('with a priority a job waits for room, and the highest priority goes first', async () => {
  const { call, submit, read, end, setLimits } = await open();
  await setLimits({ running: 1 });
  const first = await submit({});
  expect((await call('POST', '/v1/jobs', { body: { command: ['true'] } })).status).toBe(429);
  const low = await submit({ priority: -5 });
  const [high, same] = [await submit({ priority: 7 }), await submit({ priority: 7 })];
  expect(await read(high)).toMatchObject({ status: 'waiting', priority: 7, reason: { code: 'WAITING_FOR_QUOTA' } });
  const order: number[] = [];
  let running = first;
  for (let left = 3; left > 0; left -= 1) {
    await end(running);
    const states = await Promise.all([low, high, same].map(async (number) => ({ number, ...(await read(number)) })));
    const [next] = states.filter(({ status }) => status === 'pending');
    order.push(next?.number ?? 0);
    running = next?.number ?? 0;
  }
  expect(order).toEqual([high, same, low]);
});

it('is refused when it could never fit', async () => {
  const { call, setLimits } = await open();
  await setLimits({ instances: 2 });
  const reply = await call('POST', '/v1/jobs', { body: { command: ['true'], ntasks: 3, priority: 1 } });
  expect([reply.status, await reply.json()]).toMatchObject([429, { error: { code: 'LIMIT_EXCEEDED' } }]);
});

describe('tasks of a job', () => {
  const cancel = ({ call }: Awaited<ReturnType<typeof open>>, number: number, tasks: string) =>
    call('POST', `/v1/jobs/${number}/tasks/cancel`, { body: { tasks } });

  it('are cancelled by their ids; unknown ones, waiting and ended jobs are refused', async () => {
    const api = await open();
    const number = await api.submit({ array: '2-8:2' });
    const reply = await cancel(api, number, '4,8');
    expect([reply.status, await reply.json()]).toMatchObject([202, { tasks: { cancelled: 2, pending: 2 } }]);
    const { items } = await (await api.call('GET', `/v1/jobs/${number}/tasks`)).json();
    expect(items.map((task: { id: number; state: string }) => [task.id, task.state])).toEqual([
      ...[
        [2, 'pending'],
        [4, 'cancelled'],
        [6, 'pending'],
        [8, 'cancelled'],
      ],
    ]);
    expect(items[1]).toMatchObject({ reason: 'Cancelled by ada.', endedAt: expect.any(String) });
    const unknown = await cancel(api, number, '4-5');
    expect([unknown.status, await unknown.json()]).toMatchObject([
      422,
      { error: { field: 'tasks', message: expect.stringContaining('no task 5') } },
    ]);
    const long = await cancel(api, number, Array.from({ length: 10_000 }, (_, at) => at * 3).join(','));
    expect([long.status, await long.json()]).toMatchObject([
      422,
      { error: { field: 'tasks', message: expect.stringContaining('at most 10000 characters') } },
    ]);
    const waiting = await api.submit({ after: [number] });
    expect((await cancel(api, waiting, '0')).status).toBe(409);
    await api.end(number, 'cancelled');
    expect((await cancel(api, number, '2')).status).toBe(409);
    expect((await cancel(api, 999, '2')).status).toBe(404);
  });

  it('are cancelled later while Temporal is unavailable, each list of its own', async () => {
    const api = await open();
    const number = await api.submit({ ntasks: 5 });
    api.workflows.control.isUnavailable = true;
    for (const tasks of ['0', '3-4', '0']) {
      expect(await (await cancel(api, number, tasks)).json()).toMatchObject({ acceptedForLater: true });
    }
    expect(await api.store.commands.list(9)).toHaveLength(2);
    api.workflows.control.isUnavailable = false;
    await api.work();
    expect((await api.read(number)).tasks).toMatchObject({ cancelled: 3, pending: 2 });
    expect(await api.store.commands.list(9)).toEqual([]);
  });
});
