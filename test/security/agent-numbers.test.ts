// An agent's messages come from a machine that runs users' code: extreme values in every place of every message, one at a time.
// After each, every view for users is read, and the workflow's plan is made.
import { beforeAll, describe, expect, it } from 'vitest';

import { describeWake } from '../../domain/wake.ts';
import { planCluster } from '../../domain/cluster/plan.ts';
import { describeCluster } from '../../workflows/cluster/describe.ts';
import { describeJob } from '../../workflows/job/describe.ts';
import { createDaskInstance, started } from '../api/dask-support.ts';
import { createTestApi, launch, type TestApi } from '../api/support.ts';

const extremes: Record<string, readonly unknown[]> = {
  number: [-1, 0.5, 2 ** 31, 2 ** 32, 8.64e15, 8.64e15 + 1, 2 ** 53 - 1, 2 ** 53, 1e300, -1e300, null],
  string: ['', '\u0000', '\ud800', '\u202e', '😀'.repeat(500), 'x'.repeat(2_000), '../../etc/passwd', null],
  time: ['9999-12-31T23:59:59.999Z', '0000-01-01T00:00:00Z', '+275760-09-13T00:00:00Z', '+275760-09-13T00:00:01Z'],
  boolean: [null, 1, 'true'],
};

const kindOf = (value: unknown): string =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) && value.includes('T') ? 'time' : typeof value;

/** Each is the message with one place changed. */
function* changedEach(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) for (const other of changedEach(item)) yield value.with(at, other);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      for (const other of changedEach(item)) yield { ...value, [key]: other };
    }
  } else yield* extremes[kindOf(value)] ?? [];
}

const result = (lease: number, task: number) => ({
  ...{ lease, task, attempt: 1, exitCode: 1, signal: 'SIGKILL', reason: 'it was killed' },
  ...{ startedAtMs: 1_790_000_000_000, endedAtMs: 1_790_000_001_000 },
});

/** Every view of a job and a cluster for users. */
async function expectReadable(api: TestApi, job: number, cluster: number, why: unknown): Promise<void> {
  const paths = [
    ...['/v1/clusters', '/v1/jobs', '/v1/workspace', `/v1/jobs/${job}`, `/v1/jobs/${job}/tasks?limit=1000`],
    ...[`/v1/jobs/${job}/events`, `/v1/jobs/${job}/logs`, `/v1/clusters/${job}`, `/v1/clusters/${job}/events`],
    ...[`/v1/clusters/${cluster}`, `/v1/clusters/${cluster}/events`, `/v1/clusters/${cluster}/logs`],
  ];
  for (const path of paths) {
    const response = await api.call('GET', path);
    const text = await response.text();
    expect({ path, why, status: response.status, isError: text.includes('"error":{') }).toEqual({
      ...{ path, why, status: 200, isError: false },
    });
    const isPage = path === '/v1/clusters' || path === '/v1/jobs';
    if (isPage) expect(JSON.parse(text).items.length).toBeGreaterThanOrEqual(1);
  }
  const unreadable = api.logged.filter((line) => line.includes('cannot be shown'));
  expect({ why, unreadable }).toEqual({ why, unreadable: [] });
  for (const state of api.workflows.clusters.values()) {
    const plan = planCluster(state, api.now());
    if (plan.wakeAtMs !== null) describeWake({ atMs: plan.wakeAtMs, what: plan.wakeFor }, api.now());
    describeCluster(state);
  }
  for (const state of api.workflows.jobs.values()) describeJob(state);
}

/** Accepted or refused. */
const expectNoFault = (status: number, sent: unknown): void =>
  expect({ sent, isFault: status >= 500 }).toEqual({ sent, isFault: false });

describe('the report of a Dask instance', () => {
  let api: TestApi;
  let numbers: { job: number; cluster: number };
  let head: Awaited<ReturnType<typeof createDaskInstance>>;
  beforeAll(async () => {
    api = await createTestApi({ cores: 16 });
    numbers = { job: await api.submit({ ntasks: 3 }), cluster: await api.startCluster({ workers: 1 }) };
    head = await createDaskInstance(api, numbers.cluster, 0);
    await head.report({ process: started('scheduler', 'tls://127.0.0.1:8786') });
  });

  const report = {
    text: 'well',
    scheduler: {
      tasks: { processing: 1, waiting: 1, memory: 1, erred: 1, noWorker: 1 },
      ...{ clients: 1, idleForMs: 1, adaptiveTarget: 1 },
      workers: [{ name: 'w', status: 'running', processing: 1 }],
    },
    drained: [{ id: 1, outcome: 'drained' }],
    interruption: { kind: 'rebalance', at: '2026-11-22T10:00:00Z' },
    unansweredForMs: 1,
  };

  it('leaves all lists readable, whatever its numbers', async () => {
    let count = 0;
    for (const changed of changedEach(report)) {
      const { status } = await head.report(Object(changed));
      expectNoFault(status, changed);
      await expectReadable(api, numbers.job, numbers.cluster, changed);
      api.clock.offsetMs += 20_000;
      count += 1;
    }
    expect(count).toBeGreaterThan(100);
  });

  it('bounds the time of an interruption that lies far ahead', async () => {
    expect((await head.report({ interruption: { kind: 'terminate', at: '9999-12-31T23:59:59Z' } })).status).toBe(200);
    const terminatesAtMs = api.workflows.clusters.get(numbers.cluster)?.instances[0]?.agent?.terminatesAtMs ?? Infinity;
    expect(terminatesAtMs).toBeLessThanOrEqual(api.now() + 3_600_000);
    await expectReadable(api, numbers.job, numbers.cluster, 'an interruption');
  });
});

describe('the exchange of a job’s instance', () => {
  it('leaves all lists readable, whatever its numbers', async () => {
    const api = await createTestApi({ cores: 16 });
    const message = { claim: 1, want: 1, running: [1], held: [1], returned: [7], head: true, results: [result(1, 0)] };
    const cases = [...changedEach(message)];
    const cluster = await api.startCluster({ workers: 0 });
    const job = await api.submit({ ntasks: cases.length });
    // At once, as from many instances: a group commit waits for others.
    const trade = async (changed: unknown, at: number): Promise<void> => {
      const instance = `i_task000000${at}`;
      launch(api, job, instance);
      const { instanceToken } = await api.tokens.mintInstance({ workspace: 'default', cluster: job, job, instance });
      const exchange = (body: unknown) => api.call('POST', '/v1/agent/exchange', { token: instanceToken, body });
      const claimed = await exchange({ claim: 1, want: 1, running: [], results: [], head: true });
      const [grant] = (await claimed.json()).grants;
      const sent = JSON.parse(JSON.stringify(changed), (key: string, value: unknown) => {
        if (key === 'lease' && value === 1) return grant?.lease;
        return key === 'task' && value === 0 ? grant?.task : value;
      });
      const { status } = await exchange(sent);
      expectNoFault(status, changed);
    };
    await Promise.all(cases.map(trade));
    api.clock.offsetMs += 2_000;
    await expectReadable(api, job, cluster, 'all of them');
    expect(cases.length).toBeGreaterThan(50);
    const { tasks } = await (await api.call('GET', `/v1/jobs/${job}`)).json();
    expect(tasks.error).toBeGreaterThan(20);
  });
});

describe('the registration of an instance', () => {
  it('leaves all lists readable, whatever its numbers', async () => {
    const api = await createTestApi({ cores: 16 });
    const [job, cluster] = [await api.submit({ ntasks: 3 }), await api.startCluster({ workers: 0 })];
    const token = await api.tokens.mintLaunch({ workspace: 'default', cluster: job, seq: 1 });
    const message = { address: '127.0.0.1', version: '0.1.0', pid: 42, upForMs: 1 };
    let count = 0;
    for (const changed of changedEach(message)) {
      count += 1;
      const instance = `i_reg00000${count}`;
      launch(api, job, instance);
      const body = { instance, bootId: `boot-of-${instance}-00000000`, ...Object(changed) };
      const { status } = await api.call('POST', '/v1/agent/register', { token, body });
      expectNoFault(status, changed);
      await expectReadable(api, job, cluster, changed);
    }
    expect(count).toBeGreaterThan(30);
  });
});

it('a log line with an impossible time is shown with the nearest one', async () => {
  const api = await createTestApi();
  const number = await api.submit({});
  api.logs.read = async function* () {
    for (const atMs of [-1e300, 2 ** 53, Number.NaN, Infinity]) {
      yield { atMs, instance: 'i_a', task: 0, attempt: 1, stream: 'stdout', text: 'hello' };
    }
  };
  const response = await api.call('GET', `/v1/jobs/${number}/logs`);
  const text = await response.text();
  expect(text.trim().split('\n')).toHaveLength(4);
  expect(text).not.toContain('error');
});
