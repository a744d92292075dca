// Budgets over HTTP, with real clusters of domain/ behind them: an exhausted budget refuses, holds and stops.
import { expect, it } from 'vitest';

import type { ClusterView } from '../../contracts/cluster.ts';
import type { CostInterval } from '../../domain/cost/interval.ts';
import { countBudgets } from '../../services/budgets/count.ts';
import { createTestApi, endedView } from './support.ts';

const hourMs = 3_600_000;

async function api() {
  const test = await createTestApi();
  const admin = await test.addToken('default', ['admin'], 'ada');
  const put = (name: string, body: object, token?: string) =>
    test.call('PUT', `/v1/budgets/${name}`, { body, token: token ?? admin });
  /** As its workflow would write it: one instance at a dollar an hour, for an hour. */
  const spend = async (number: number, dollarsPerHour = 1): Promise<void> => {
    const record = await test.store.clusters.find('default', number);
    if (record === null) throw new Error(`no cluster ${number}`);
    const cost: CostInterval = {
      ...{ instance: `i_${number}`, role: 'head', type: 'm', zone: 'a', market: 'on-demand', source: 'a test' },
      ...{
        microsPerHour: dollarsPerHour * 1e6,
        diskMicrosPerHour: 0,
        addressMicrosPerHour: 0,
        fromMs: test.now() - hourMs,
        toMs: null,
      },
    };
    const view: ClusterView = { ...(await test.deps.views.cluster('default', number)).view, costs: [cost] };
    await test.store.clusters.project({ view, version: record.viewVersion + 100, nowMs: test.now() });
  };
  const cluster = async (number: number) => (await test.call('GET', `/v1/clusters/${number}`)).json();
  const events = async (): Promise<{ code: string; text: string }[]> =>
    (await (await test.call('GET', '/v1/workspace', { token: admin })).json()).events.filter(
      ({ code }: { code: string }) => code.startsWith('BUDGET'),
    );
  const count = async (): Promise<void> => {
    test.clock.offsetMs += 10_000;
    await countBudgets(test.deps);
  };
  const remove = (name: string) => test.call('DELETE', `/v1/budgets/${name}`, { token: admin });
  return { ...test, put, remove, spend, cluster, events, count };
}

it('a used-up budget refuses new clusters, jobs and growth, holds launches, and allows them when it is raised', async () => {
  const test = await api();
  const number = await test.startCluster({ workers: 1 });
  const body = { workers: 1, name: 'again' };
  const early = await test.call('POST', '/v1/clusters', { body, headers: { 'idempotency-key': 'k' } });
  await test.spend(number);
  const set = await test.put('all', { dollars: 0.9, period: 'run', action: 'refuse' });
  expect([set.status, await set.json()]).toMatchObject([
    200,
    { level: 'exceeded', spentDollars: expect.closeTo(1, 1), user: null },
  ]);
  // A budget per run does not count for a new run; a monthly budget does.
  await test.startCluster({ workers: 1, name: 'other' });
  await test.put('month', { dollars: 0.9 });
  const refused = await test.call('POST', '/v1/jobs', { body: { command: ['true'] } });
  expect([refused.status, (await refused.json()).error]).toMatchObject([402, { code: 'BUDGET_EXCEEDED' }]);
  expect((await test.call('POST', `/v1/clusters/${number}/scale`, { body: { workers: 5 } })).status).toBe(402);
  // A repeated request gets its earlier answer, and a request for fewer workers is always accepted.
  const again = await test.call('POST', '/v1/clusters', { body, headers: { 'idempotency-key': 'k' } });
  expect((await again.json()).number).toBe((await early.json()).number);
  expect((await test.call('POST', `/v1/clusters/${number}/scale`, { body: { workers: 0 } })).status).toBe(202);
  const held = await test.cluster(number);
  expect(held).toMatchObject({ reason: { code: 'BUDGET_EXCEEDED' } });
  expect(held.events.filter(({ code }: { code: string }) => code === 'BUDGET_EXCEEDED')).toHaveLength(1);
  await test.count();
  await test.put('month', { dollars: 100 });
  await test.remove('all');
  const free = await test.cluster(number);
  expect([free.reason, free.events.at(-1).code]).toEqual([null, 'HOLD_ENDED']);
  expect((await test.events()).map(({ code }) => code)).toEqual([
    ...['BUDGET', 'BUDGET_EXCEEDED', 'BUDGET', 'BUDGET_EXCEEDED', 'BUDGET', 'BUDGET_REMOVED'],
  ]);
});

it('stops clusters and cancels jobs of its user alone, with the reason, and is sent again when a signal was lost', async () => {
  const test = await api();
  const bob = await test.addToken('default', ['read', 'write'], 'bob', 'member');
  const own = await test.startCluster({ workers: 1 });
  const others = await test.startCluster({ workers: 1 }, { token: bob });
  for (const number of [own, others]) await test.spend(number);
  await test.put('ada', { dollars: 2, user: 'ada', action: 'stop', warnAtPercent: 40 });
  expect((await test.events()).map(({ code }) => code)).toEqual(['BUDGET', 'BUDGET_WARNING']);
  test.workflows.control.isUnavailable = true;
  test.clock.offsetMs += hourMs;
  await test.count();
  test.workflows.control.isUnavailable = false;
  expect((await test.cluster(own)).status).toBe('pending');
  await test.count();
  expect(await test.cluster(own)).toMatchObject({
    reason: { code: 'BUDGET_EXCEEDED', text: expect.stringContaining('the budget ada') },
  });
  expect((await test.cluster(others)).reason).toBeNull();
  const calls = test.workflows.calls.length;
  await test.count();
  expect(test.workflows.calls.slice(calls)).toEqual([]);
});

it('gives a cluster the least limit of its own and of the budgets of each run, and says what will be exceeded', async () => {
  const test = await api();
  await test.put('each', { dollars: 3, period: 'run', action: 'stop' });
  const limitOf = async (body: object): Promise<number | undefined> => {
    const number = await test.startCluster({ workers: 1, ...body });
    return test.workflows.clusters.get(number)?.settings.maxCostMicros;
  };
  expect(await limitOf({})).toBe(3_000_000);
  expect(await limitOf({ maxCost: 0.5 })).toBe(500_000);
  expect(await limitOf({ maxCost: 50 })).toBe(3_000_000);
});

it("is an admin's to change, and a wrong one is refused by its field", async () => {
  const test = await api();
  const member = await test.addToken('default', ['read', 'write'], 'bob', 'member');
  expect((await test.put('x', { dollars: 1 }, member)).status).toBe(403);
  expect((await test.remove('x')).status).toBe(404);
  for (const [body, field] of [
    [{ dollars: 0 }, 'dollars'],
    [{ dollars: 1e-300 }, 'dollars'],
    [{ dollars: 0.0099 }, 'dollars'],
    [{ dollars: 1, period: 'week' }, 'period'],
    [{ dollars: 1, warnAtPercent: 101 }, 'warnAtPercent'],
    [{ dollars: 1, user: 'ada', job: 3 }, 'job'],
    [{ dollars: 1, per: 'day' }, 'per'],
  ] as const) {
    const response = await test.put('x', body);
    expect([response.status, (await response.json()).error.field]).toEqual([422, field]);
  }
});

it('of a subject that is not there, or has ended, is refused: it would limit nothing', async () => {
  const test = await api();
  const refused = async (body: object) => {
    const response = await test.put('x', { dollars: 1, ...body });
    return [response.status, (await response.json()).error.message];
  };
  expect(await refused({ user: 'adda' })).toEqual([404, 'user: the workspace has no user adda.']);
  expect((await refused({ cluster: 999 }))[0]).toBe(404);
  expect((await refused({ job: 999 }))[0]).toBe(404);
  const number = await test.submit({});
  expect((await test.put('job', { dollars: 1, job: number })).status).toBe(200);
  await test.call('POST', `/v1/jobs/${number}/cancel`);
  const view = endedView(test, number);
  await test.store.jobs.end({ view, version: 99, release: true, nowMs: test.now() });
  expect(await refused({ job: number })).toEqual([422, `job: the job ${number} has ended, and costs nothing more.`]);
  // Its existing budget may still be changed.
  expect((await test.put('job', { dollars: 2, job: number })).status).toBe(200);
});
