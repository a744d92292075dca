// The source of a job's or cluster's view: its workflow while it is open, its row after the end, and the row while Temporal does
// not answer.
import { describe, expect, it } from 'vitest';

import { createTestApi, endedView, type TestApi } from './support.ts';

const read = async (api: TestApi, kind: 'jobs' | 'clusters', number: number) =>
  (await api.call('GET', `/v1/${kind}/${number}`)).json();
const queriesOf = (api: TestApi, id: string) => api.workflows.calls.filter((call) => call.startsWith(`query ${id} `));

describe('an open job', () => {
  it('is queried at most once a second for all its readers together', async () => {
    const api = await createTestApi();
    const number = await api.submit({});
    await Promise.all(Array.from({ length: 10 }, () => read(api, 'jobs', number)));
    for (let n = 0; n < 5; n += 1) await read(api, 'jobs', number);
    expect(queriesOf(api, `job/${number}`)).toHaveLength(1);
    api.clock.offsetMs += 1_000;
    await read(api, 'jobs', number);
    expect(queriesOf(api, `job/${number}`)).toHaveLength(2);
  });

  it('is shown as its row says while Temporal is unavailable, with the time since when', async () => {
    const api = await createTestApi();
    const number = await api.submit({ ntasks: 2 });
    const { viewAtMs } = (await api.store.jobs.find('default', number)) ?? {};
    api.clock.offsetMs += 60_000;
    api.workflows.control.isUnavailable = true;
    const stale = await read(api, 'jobs', number);
    expect(stale).toMatchObject({ status: 'pending', tasks: { total: 2 }, staleSince: time(viewAtMs) });
    expect(await read(api, 'clusters', number)).toMatchObject({ job: number, staleSince: expect.any(String) });
    api.workflows.control.isUnavailable = false;
    expect(await read(api, 'jobs', number)).toMatchObject({ staleSince: null });
  });

  it('whose workflow has closed is read from its result until its row has it', async () => {
    const api = await createTestApi();
    const number = await api.submit({});
    api.workflows.close(`job/${number}`, { result: endedView(api, number) });
    expect(await read(api, 'jobs', number)).toMatchObject({ status: 'done', staleSince: null });
  });

  it('whose workflow was ended from outside says so', async () => {
    const api = await createTestApi();
    const number = await api.submit({});
    api.workflows.close(`job/${number}`, { failed: 'Workflow execution terminated' });
    const job = await read(api, 'jobs', number);
    expect(job).toMatchObject({ status: 'error', reason: { code: 'ENDED_FROM_OUTSIDE' } });
    expect(job.reason.text).toContain('terminated');
  });

  it('whose workflow Temporal does not know is shown as its row says', async () => {
    const api = await createTestApi();
    const number = await api.submit({});
    api.workflows.forget(`job/${number}`);
    expect(await read(api, 'jobs', number)).toMatchObject({ status: 'pending', staleSince: expect.any(String) });
  });

  it('that ends between the read of its row and the query is read as ended', async () => {
    const api = await createTestApi();
    const number = await api.submit({});
    const query = api.workflows.port.query.bind(api.workflows.port);
    api.workflows.port.query = async (id, ...rest) => {
      await api.workflows.endJob(endedView(api, number));
      api.workflows.forget(id);
      return query(id, ...rest);
    };
    expect(await read(api, 'jobs', number)).toMatchObject({ status: 'done', staleSince: null });
  });
});

it('an ended job is read from its row alone', async () => {
  const api = await createTestApi();
  const number = await api.submit({});
  await api.workflows.endJob(endedView(api, number));
  api.workflows.control.isUnavailable = true;
  const before = api.workflows.calls.length;
  expect(await read(api, 'jobs', number)).toMatchObject({ status: 'done', staleSince: null });
  expect(api.workflows.calls).toHaveLength(before);
});

it('a workflow that has not read its specification yet is shown with what was asked for', async () => {
  const api = await createTestApi();
  const job = await api.submit({ ntasks: 3 });
  const query = api.workflows.port.query.bind(api.workflows.port);
  const blank = { ...endedView(api, job), status: 'pending', command: '', endedAtMs: null };
  const tasks = { total: 0, pending: 0, assigned: 0, running: 0, done: 0, error: 0, cancelled: 0 };
  api.workflows.port.query = (id, ...rest) =>
    id === `job/${job}`
      ? Promise.resolve({ kind: 'value', value: JSON.parse(JSON.stringify({ ...blank, tasks })) })
      : query(id, ...rest);
  expect(await read(api, 'jobs', job)).toMatchObject({ command: 'true', tasks: { total: 3, pending: 3 } });
});

it("the cluster of a job that has not started it yet is pending, with the job's name", async () => {
  const api = await createTestApi();
  api.workflows.control.isUnavailable = true;
  const number = await api.submit({ name: 'nightly', ntasks: 2 });
  expect(await read(api, 'clusters', number)).toMatchObject({
    status: 'pending',
    name: 'nightly',
    job: number,
    provider: 'local',
    dask: null,
    instances: [],
  });
});

const time = (ms: number | null | undefined) => new Date(ms ?? Number.NaN).toISOString();
