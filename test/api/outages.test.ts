// Requests that are accepted while Temporal or the database is unavailable, and which process continues them after the recovery.
import { describe, expect, it, vi } from 'vitest';

// First: it extends the schemas of all others.
import { createReplica, createTestApi, endedView, type TestApi } from './support.ts';
import { runDeferredWork } from '../../services/deferred-work.ts';
import { eventually } from '../support/eventually.ts';

const create = async (api: TestApi, kind: 'jobs' | 'clusters' = 'jobs', more: object = {}) => {
  const body = { ...(kind === 'jobs' ? { command: ['true'] } : {}), ...more };
  const response = await api.call('POST', `/v1/${kind}`, { body });
  return { status: response.status, body: await response.json(), retryAfter: response.headers.get('retry-after') };
};
const rowOf = (api: TestApi, number: number) => api.store.jobs.find('default', number);
const commands = (api: TestApi) => api.store.commands.list(100);

describe('while Temporal is unavailable', () => {
  it.each(['jobs', 'clusters'] as const)('creates are accepted, say so, and start later: %s', async (kind) => {
    const api = await createTestApi();
    api.workflows.control.isUnavailable = true;
    for (let n = 1; n <= 2; n += 1) {
      const created = await create(api, kind);
      expect(created).toMatchObject({ status: 201, body: { number: n, acceptedForLater: true } });
      expect(created.body.warnings).toEqual(['Accepted; it starts when Temporal is available again.']);
    }
    await api.work();
    expect(api.workflows.starts).toEqual([]);
    api.workflows.control.isUnavailable = false;
    await api.work();
    const id = kind === 'jobs' ? 'job' : 'cluster';
    expect(api.workflows.starts.toSorted()).toEqual([`${id}/1`, `${id}/2`]);
    expect(await create(api, kind)).toMatchObject({ status: 201, body: { number: 3, warnings: [] } });
    expect(api.workflows.starts).toHaveLength(3);
  });

  it('a list shows how many tasks an accepted job has', async () => {
    const api = await createTestApi();
    api.workflows.control.isUnavailable = true;
    await api.call('POST', '/v1/jobs', { body: { command: ['true'], ntasks: 7 } });
    const { items } = await (await api.call('GET', '/v1/jobs')).json();
    expect(items).toMatchObject([{ status: 'pending', tasks: { total: 7, pending: 7 } }]);
  });

  it('a create that Temporal holds for long is answered soon', async () => {
    const api = await createTestApi();
    const start = api.workflows.port.start.bind(api.workflows.port);
    const held = Promise.withResolvers<void>();
    api.workflows.port.start = async (what) => {
      await held.promise;
      return start(what);
    };
    const created = await create(api);
    expect(created).toMatchObject({ status: 201, body: { warnings: [] } });
    expect(await rowOf(api, created.body.number)).toMatchObject({ state: 'admitted' });
    held.resolve();
    await eventually(() => api.workflows.starts.length === 1);
  });

  it('rows are started by the loop within a second of its return', async () => {
    const api = await createTestApi();
    api.workflows.control.isUnavailable = true;
    await create(api);
    const done = runDeferredWork(api.deps);
    api.workflows.control.isUnavailable = false;
    await eventually(() => api.workflows.starts.length === 1);
    api.stopping.abort();
    await done;
  });

  it('a stop and a cancel are stored, and delivered later, also by another replica', async () => {
    const api = await createTestApi();
    const [job, cluster] = [await api.submit({}), await api.startCluster()];
    api.workflows.control.isUnavailable = true;
    for (const path of [`jobs/${job}/cancel`, `jobs/${job}/cancel`, `clusters/${cluster}/stop`]) {
      const answer = await api.call('POST', `/v1/${path}`);
      expect([answer.status, await answer.json()]).toMatchObject([202, { acceptedForLater: true }]);
    }
    expect(await commands(api)).toHaveLength(2);
    await api.work();
    expect(await commands(api)).toHaveLength(2);
    api.workflows.control.isUnavailable = false;
    const replica = await createReplica(api);
    await replica.work();
    expect(api.workflows.jobs.get(job)?.cancelRequested).toMatchObject({ code: 'CANCELLED', by: 'ada' });
    expect(api.workflows.clusters.get(cluster)?.stopRequested).toMatchObject({ code: 'STOPPED', by: 'ada' });
    expect(await commands(api)).toEqual([]);
  });

  it('no user ends a private job or a job of another workspace', async () => {
    const api = await createTestApi();
    const number = await api.submit({ privateToCreator: true });
    const zoe = await api.addToken('default', ['read', 'write'], 'zoe', 'member');
    const stranger = await api.addToken('other');
    api.workflows.control.isUnavailable = true;
    expect((await api.call('POST', `/v1/jobs/${number}/cancel`, { token: zoe })).status).toBe(403);
    expect((await api.call('POST', `/v1/jobs/${number}/cancel`, { token: stranger })).status).toBe(404);
    expect(await commands(api)).toEqual([]);
  });
});

describe('a stop before the start', () => {
  it('is delivered after its start: a cancelled job ends, and nothing is started twice', async () => {
    const api = await createTestApi();
    api.workflows.control.isUnavailable = true;
    const job = (await create(api)).body.number;
    expect((await api.call('POST', `/v1/jobs/${job}/cancel`)).status).toBe(202);
    expect((await api.call('POST', `/v1/clusters/${job}/stop`)).status).toBe(202);
    api.workflows.control.isUnavailable = false;
    await api.work();
    await api.work();
    expect(api.workflows.starts).toEqual([`job/${job}`]);
    expect(api.workflows.jobs.get(job)?.cancelRequested).toMatchObject({ code: 'CANCELLED' });
    expect(api.workflows.clusters.get(job)?.stopRequested).toMatchObject({ code: 'STOPPED' });
    expect(await commands(api)).toEqual([]);
  });

  it('waits while its start fails, and does not hold up other commands', async () => {
    const api = await createTestApi();
    const running = await api.submit({});
    const start = vi.spyOn(api.workflows.port, 'start').mockRejectedValue(new Error('refused'));
    const late = (await create(api)).body.number;
    const cancelled = await api.call('POST', `/v1/jobs/${late}/cancel`);
    expect(await cancelled.json()).toMatchObject({ acceptedForLater: true, status: 'pending' });
    api.workflows.control.isUnavailable = true;
    await api.call('POST', `/v1/jobs/${running}/cancel`);
    api.workflows.control.isUnavailable = false;
    await api.work();
    expect(await commands(api)).toMatchObject([{ number: late }]);
    expect(api.workflows.jobs.get(running)?.cancelRequested).not.toBeNull();
    start.mockRestore();
    // The claim of the failed start has ended.
    api.clock.offsetMs += 10_000;
    await api.work();
    await api.work();
    expect(api.workflows.jobs.get(late)?.cancelRequested).not.toBeNull();
  });

  it('is dropped when its row has ended meanwhile', async () => {
    const api = await createTestApi();
    const number = await api.submit({});
    api.workflows.control.isUnavailable = true;
    await api.call('POST', `/v1/jobs/${number}/cancel`);
    api.workflows.control.isUnavailable = false;
    await api.workflows.endJob(endedView(api, number));
    api.workflows.forget(`job/${number}`);
    await api.work();
    expect(await commands(api)).toEqual([]);
  });
});

describe('the start of an admitted row', () => {
  it('is made by another replica when its process was killed after the commit', async () => {
    const api = await createTestApi();
    // As a process leaves it that ends between its commit and the start.
    vi.spyOn(api.deps.starter, 'begin').mockResolvedValue('unknown');
    const { body } = await create(api, 'jobs', { ntasks: 2 });
    expect(await rowOf(api, body.number)).toMatchObject({ state: 'admitted' });
    const replica = await createReplica(api);
    await replica.work();
    expect(api.workflows.starts).toEqual([`job/${body.number}`]);
    expect(await rowOf(api, body.number)).toMatchObject({ state: 'open' });
  });

  it('is made again when its process was killed in the middle of it', async () => {
    const api = await createTestApi();
    vi.spyOn(api.store.admissions, 'started').mockRejectedValueOnce(new Error('killed'));
    const { body } = await create(api);
    expect(api.workflows.starts).toEqual([`job/${body.number}`]);
    // Its claim has ended.
    api.clock.offsetMs += 10_000;
    const replica = await createReplica(api);
    await replica.work();
    expect(api.workflows.starts).toEqual([`job/${body.number}`]);
    expect(await rowOf(api, body.number)).toMatchObject({ state: 'open' });
  });

  it('is made once, however many replicas make it at the same time', async () => {
    const api = await createTestApi();
    api.workflows.control.isUnavailable = true;
    const numbers = await Promise.all(Array.from({ length: 50 }, async () => Number((await create(api)).body.number)));
    const replicas = await Promise.all([createReplica(api), createReplica(api)]);
    api.workflows.control.isUnavailable = false;
    await eventually(async () => {
      await Promise.all([api, ...replicas].map((each) => each.work()));
      return api.workflows.starts.length >= numbers.length;
    });
    expect(api.workflows.starts.toSorted()).toEqual(numbers.map((number) => `job/${number}`).toSorted());
    expect(new Set(numbers).size).toBe(50);
  });

  it('is refused when another admission has its number: the row says so, and name and quota are free again', async () => {
    const api = await createTestApi();
    api.workflows.occupy('job/1');
    const refused = await create(api, 'jobs', { name: 'nightly' });
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    expect(refused.body.error.hint).toContain('ropewalk reconcile');
    const job = await (await api.call('GET', '/v1/jobs/1')).json();
    expect(job).toMatchObject({ status: 'error', reason: { code: 'NUMBER_IN_USE' }, command: 'true' });
    expect(job.reason.text).toContain('ropewalk reconcile');
    expect((await api.call('GET', '/v1/clusters/1')).status).toBe(404);
    expect((await (await api.call('GET', '/v1/jobs')).json()).items).toMatchObject([{ number: 1, status: 'error' }]);
    expect(api.objects.keys().filter((key) => key.startsWith('vault/'))).toEqual([]);
    expect(await api.usage()).toMatchObject({ running: 0 });
    expect(await create(api, 'jobs', { name: 'nightly' })).toMatchObject({ status: 201, body: { number: 2 } });
  });
});

describe('while the database is unavailable', () => {
  it.each(['jobs', 'clusters'] as const)('creates are refused, and nothing is left behind: %s', async (kind) => {
    const api = await createTestApi();
    await api.call('GET', '/v1/whoami');
    const before = api.objects.keys();
    api.database.isUnavailable = true;
    const refused = await create(api, kind);
    expect(refused).toMatchObject({ status: 503, retryAfter: '1', body: { error: { code: 'UNAVAILABLE' } } });
    expect(api.objects.keys()).toEqual(before);
    await api.work();
    api.database.isUnavailable = false;
    await api.work();
    expect(api.workflows.starts).toEqual([]);
    expect(await create(api, kind)).toMatchObject({ status: 201, body: { number: 1 } });
  });
});
