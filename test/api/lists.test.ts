// Lists of jobs and clusters: filters, search, pages of any depth, and unreadable rows.
import { beforeAll, describe, expect, it, vi } from 'vitest';

import { createTestApi, endedView, type CallOptions, type TestApi } from './support.ts';

interface Item {
  number: number;
  command: string;
  status: string;
}

const list = async (api: TestApi, path: string, options: CallOptions = {}) => {
  const response = await api.call('GET', `/v1/${path}`, options);
  if (response.status !== 200) throw new Error(await response.text());
  const page: { items: Item[]; next: string | null } = await response.json();
  return page;
};
const numbers = async (api: TestApi, path: string, options: CallOptions = {}) =>
  (await list(api, path, options)).items.map(({ number }) => number);
const fieldOf = async (api: TestApi, path: string) => {
  const response = await api.call('GET', `/v1/${path}`);
  return [response.status, (await response.json()).error.field];
};
const minute = 60_000;

describe('filters', () => {
  let api: TestApi;
  let grace: string;
  let startedAtMs: number;
  beforeAll(async () => {
    api = await createTestApi();
    grace = await api.addToken('default', ['read', 'write'], 'grace', 'member');
    startedAtMs = api.now();
    await api.submit({ name: 'nightly', command: ['python', 'train.py', '--rate', '50%'] }); // 1
    await api.workflows.endJob(endedView(api, 1));
    api.clock.offsetMs += 10 * minute;
    await api.submit({ name: 'Nightly', command: ['say', "'it'"] }, { token: grace }); // 2
    await api.submit({ name: 'nightly', command: ['true'] }); // 3
    api.clock.offsetMs += 10 * minute;
    await api.startCluster({ name: 'blue' }); // 4
    await api.submit({ command: ['swordfish'], privateToCreator: true }, { token: grace }); // 5
    await api.call('POST', '/v1/jobs/5/cancel', { token: grace });
    await api.startCluster({ name: 'green' }, { token: grace }); // 6
    await api.call('POST', '/v1/clusters/6/stop');
  });

  it.each([
    ['jobs', [5, 3, 2, 1]],
    ['jobs?status=done', [1]],
    ['jobs?status=done,cancelled', [5, 1]],
    ['jobs?status=done&status=cancelled', [5, 1]],
    ['jobs?name=nightly', [3, 1]],
    ['jobs?name=nightly&open=true', [3]],
    ['jobs?user=grace', [5, 2]],
    ['jobs?user=unknown', []],
    ['jobs?since=5m', [5]],
    ['jobs?until=5m', [3, 2, 1]],
    ['jobs?since=5m&user=ada', []],
    ['jobs?q=NIGHT', [3, 2, 1]],
    ['jobs?q=train.py', [1]],
    ['clusters', [6, 5, 4, 3, 2, 1]],
    ['clusters?kind=dask', [6, 4]],
    ['clusters?kind=job', [5, 3, 2, 1]],
    ['clusters?kind=dask&status=stopping', [6]],
    ['clusters?name=nightly', [3, 1]],
    ['clusters?name=blue&open=true', [4]],
    ['clusters?user=grace&kind=dask', [6]],
    ['clusters?q=gre', [6]],
  ])('%s', async (path, expected) => {
    expect(await numbers(api, path)).toEqual(expected);
  });

  it('take RFC 3339 times with any offset', async () => {
    const at = (ms: number) => encodeURIComponent(new Date(startedAtMs + ms).toISOString().replace('Z', '+00:00'));
    expect(await numbers(api, `jobs?since=${at(5 * minute)}&until=${at(15 * minute)}`)).toEqual([3, 2]);
  });

  it.each(['%', '_', '\\', '%25', "'", '"', "it'", "' or 1=1 --", '*'])('search %j as it is written', async (text) => {
    const shown = (await list(api, 'jobs')).items.filter(({ command }) => command.includes(text));
    expect(await numbers(api, `jobs?q=${encodeURIComponent(text)}`)).toEqual(shown.map(({ number }) => number));
  });

  it('find by a private command its creator only', async () => {
    expect(await numbers(api, 'jobs?q=swordfish', { token: grace })).toEqual([5]);
    expect(await numbers(api, 'jobs?q=swordfish')).toEqual([]);
    expect(await numbers(api, 'jobs?q=job-5')).toEqual([5]);
  });

  it.each([
    ['jobs?status=ready', 'status.0'],
    ['clusters?status=done', 'status.0'],
    ['clusters?kind=both', 'kind'],
    ['jobs?since=yesterday', 'since'],
    ['jobs?until=2026-13-01T00:00:00Z', 'until'],
    ['jobs?since=2026-01-01', 'since'],
    ['jobs?open=perhaps', 'open'],
    ['jobs?q=', 'q'],
    ['jobs?name=a%20b', 'name'],
    ['jobs?limit=0', 'limit'],
    ['jobs?limit=1001', 'limit'],
    ['jobs?after=x', 'after'],
  ])('name the field at fault: %s', async (path, field) => {
    expect(await fieldOf(api, path)).toEqual([422, field]);
  });
});

describe('pages', () => {
  it('go through 3,000 rows, each once, one query a page, none of them to Temporal', async () => {
    const api = await createTestApi();
    const item = { workspace: 'default', kind: 'job', user: 'ada', name: '', getOrCreate: false } as const;
    const small = {
      specRef: 's',
      command: 'true',
      instances: 0,
      vcpus: 0,
      workerVcpus: 0,
      privateToCreator: false,
      estimate: { microsPerHour: 0, totalMicros: 0 },
    };
    await api.setLimits({ running: 10_000 });
    for (let n = 1; n <= 3_000; n += 1) {
      const ids = { admissionId: `adm_${n}`, idempotencyKey: `k${n}`, bodyHash: 'h' };
      await api.store.admissions.admit({ ...item, ...small, ...ids }, api.now());
    }
    const query = vi.spyOn(api.store.jobs, 'list');
    const seen: number[] = [];
    let next: string | null = '';
    while (next !== null) {
      const page: Awaited<ReturnType<typeof list>> = await list(
        api,
        `jobs?limit=500${next === '' ? '' : `&after=${next}`}`,
      );
      seen.push(...page.items.map(({ number }) => number));
      ({ next } = page);
    }
    expect(seen).toEqual(Array.from({ length: 3_000 }, (_, n) => 3_000 - n));
    expect(query).toHaveBeenCalledTimes(6);
    expect(api.workflows.calls).toEqual([]);
  });

  it('are of one workspace', async () => {
    const api = await createTestApi();
    await api.submit({});
    const stranger = { token: await api.addToken('other') };
    expect(await list(api, 'jobs', stranger)).toEqual({ items: [], next: null });
    expect(await list(api, 'clusters?q=job', stranger)).toEqual({ items: [], next: null });
  });
});

it('a row with a time beyond all calendars is shown with the last time there is', async () => {
  const api = await createTestApi();
  const number = await api.submit({});
  const view = { ...endedView(api, number), submittedAtMs: Number.MAX_SAFE_INTEGER };
  await api.store.jobs.project({ view, version: 99, nowMs: api.now() });
  const { items } = await list(api, 'jobs');
  expect(items[0]).toMatchObject({ number, submittedAt: '9999-12-31T23:59:59.999Z' });
});

describe('a row that cannot be shown', () => {
  it.each([
    ['errors that are none', '{"recentErrors":[null]}'],
    ['no list of errors', '{"recentErrors":7}'],
    ['no counters', '{"counters":null}'],
  ])('never fails a page: %s', async (_what, broken) => {
    const api = await createTestApi();
    await api.submit({});
    const number = await api.submit({ name: 'odd', command: ['echo'] });
    await api.submit({});
    await api.store.jobs.project({
      view: { ...endedView(api, number), ...JSON.parse(broken) },
      version: 99,
      nowMs: api.now(),
    });
    const { items } = await list(api, 'jobs');
    expect(items.map((item) => item.number)).toEqual([3, 2, 1]);
    expect(items[1]).toMatchObject({ name: 'odd', command: 'echo', user: 'ada', status: 'done' });
    expect(api.logged.join()).toContain('a stored view cannot be shown');
  });
});
