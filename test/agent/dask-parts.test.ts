// The decisions of a Dask cluster's agent without a process: when a scheduler's state needs a report, the outcome of a drain,
// which report is repeated, the contents of an environment.
import { describe, expect, it } from 'vitest';

import { asBytes } from './as-bytes.ts';
import type { SchedulerState } from '../../agent/dask/scheduler/messages.ts';
import type { SchedulerLink } from '../../agent/dask/scheduler/link.ts';
import { asFailure, DaskFailure } from '../../agent/dask/failure.ts';
import { createDrains } from '../../agent/dask/scheduler/drains.ts';
import { defaultRequirements } from '../../agent/runtimes/environment/default-requirements.ts';
import { passedOn } from '../../agent/runtimes/environment/run-tool.ts';
import { withDefaults } from '../../agent/runtimes/environment/with-defaults.ts';
import { daskBase, taskBase } from '../../agent/runtimes/inherited-variables.ts';
import { createOrderSubscription } from '../../agent/dask/order-subscription.ts';
import type { Session } from '../../agent/api-client/session.ts';
import { createReports } from '../../agent/api-client/reports.ts';
import type { DrainReport } from '../../agent/api-client/reports.ts';
import { reportAtMs, reportOf } from '../../agent/dask/scheduler/report.ts';
import { outside } from '../../providers/local/environment.ts';
import { reportRequest, schedulerReport } from '../../schema/agent.ts';
import type { Orders, ReportRequest } from '../../schema/agent.ts';
import { eventually } from '../support/eventually.ts';

const quietTasks = { processing: 0, waiting: 0, queued: 0, memory: 0, erred: 0, no_worker: 0 };
const worker = (name: string, more: object = {}) => ({
  ...{ name, address: `tls://127.0.0.1:1`, status: 'running', nthreads: 1 },
  ...{ processing: 0, memoryBytes: 5, managedBytes: 0 },
  ...more,
});
const state = (more: Partial<SchedulerState> = {}): SchedulerState => ({
  ...{ kind: 'state', tasks: quietTasks, clients: 1, idleSinceMs: 1_000, adaptiveTarget: 2 },
  workers: [worker('a'), worker('b')],
  ...more,
});
const busy: Partial<SchedulerState> = { idleSinceMs: null, tasks: { ...quietTasks, processing: 4 } };

describe('a scheduler`s state', () => {
  const after = (before: Partial<SchedulerState>, now: Partial<SchedulerState>): number =>
    reportAtMs({ atMs: 100_000, state: state(before) }, state(now)) - 100_000;

  it('is reported at once the first time, and never again while nothing changes', () => {
    expect(reportAtMs(null, state())).toBe(0);
    expect(after({}, {})).toBe(Number.POSITIVE_INFINITY);
    expect(after(busy, busy)).toBe(Number.POSITIVE_INFINITY);
    // A worker's memory changes all the time; the order of workers means nothing.
    expect(after({}, { workers: [worker('b', { memoryBytes: 9 }), worker('a')] })).toBe(Number.POSITIVE_INFINITY);
  });

  it('is reported within a second when clients, workers, or the target grows, and when work begins', () => {
    expect(after({}, { clients: 2 })).toBe(1_000);
    expect(after({}, { clients: 0 })).toBe(1_000);
    expect(after({}, busy)).toBe(1_000);
    expect(after({}, { adaptiveTarget: 3 })).toBe(1_000);
    expect(after({}, { workers: [worker('a')] })).toBe(1_000);
    expect(after({}, { workers: [worker('a'), worker('c')] })).toBe(1_000);
    expect(after({}, { workers: [worker('a'), worker('b', { status: 'paused' })] })).toBe(1_000);
  });

  it('is reported after a longer delay when it is idle again, asks for fewer workers, or only counts change', () => {
    expect(after(busy, {})).toBe(5_000);
    expect(after({}, { idleSinceMs: 50_000 })).toBe(5_000);
    expect(after(busy, { ...busy, adaptiveTarget: 1 })).toBe(10_000);
    expect(after(busy, { ...busy, tasks: { ...quietTasks, processing: 3 } })).toBe(30_000);
    expect(after(busy, { ...busy, workers: [worker('a', { processing: 1 }), worker('b')] })).toBe(30_000);
    expect(after({}, { tasks: { ...quietTasks, memory: 1 } })).toBe(30_000);
  });

  it('becomes a report that the API accepts, with durations instead of times', () => {
    const tasks = { processing: 1, waiting: 2, queued: 3, memory: 4, erred: 5, no_worker: 6 };
    const odd = [worker(''), worker('x'.repeat(256)), worker('c', { status: 's'.repeat(60), processing: 7 })];
    const report = reportOf(state({ tasks, idleSinceMs: 900, workers: odd }), 1_000.4);
    expect(report).toEqual({
      tasks: { processing: 1, waiting: 5, memory: 4, erred: 5, noWorker: 6 },
      ...{ clients: 1, idleForMs: 100, adaptiveTarget: 2 },
      workers: [{ name: 'c', status: 's'.repeat(50), processing: 7 }],
    });
    expect(schedulerReport.parse(report)).toEqual(report);
    // Bytes have a larger bound than counts: a cluster's memory exceeds a thousand million of them.
    const memory = { usedBytes: 3 * 2 ** 40, limitBytes: 4 * 2 ** 40 };
    expect(schedulerReport.parse({ ...report, usage: { memory } }).usage?.memory).toEqual(memory);
    // The scheduler's clock may be read after the agent's.
    expect(reportOf(state({ idleSinceMs: 2_000 }), 1_000).idleForMs).toBe(0);
    expect(reportOf(state(busy), 1_000).idleForMs).toBeNull();
  });
});

const log = { write: () => {}, append: () => true, drained: async () => {}, close: async () => {} };

describe('a drain', () => {
  const drainsWith = (answer: (attempt: number) => Promise<object>) => {
    const reported: DrainReport[] = [];
    const asked: object[] = [];
    const order = async (_kind: string, body: object): Promise<object> => {
      asked.push(body);
      return answer(asked.length);
    };
    // A link whose only order is this one.
    const link: Pick<SchedulerLink, 'order'> = Object.assign(Object.create(null), { order });
    const take = createDrains({
      link,
      workersPerInstance: 1,
      notify: (report) => reported.push(report),
      log,
      signal: new AbortController().signal,
    });
    return { reported, asked, take };
  };

  it('is ordered again while the scheduler is unavailable, and reported once', async () => {
    const { reported, asked, take } = drainsWith(async (attempt) => {
      if (attempt < 3) throw new Error('not connected');
      return { workers: { a: 'kept' } };
    });
    const drain = [{ id: 5, worker: 'a', deadlineSeconds: 60 }];
    take({ drain });
    take({ drain });
    await eventually(() => reported.length > 0);
    take({ drain });
    expect(reported).toEqual([{ id: 5, outcome: 'kept' }]);
    expect(asked).toHaveLength(3);
    expect(asked[0]).toMatchObject({ workers: ['a'] });
  });

  it('ends with its deadline when the scheduler stays unavailable', async () => {
    const { reported, take } = drainsWith(() => Promise.reject(new Error('not connected')));
    take({ drain: [{ id: 6, worker: 'a', deadlineSeconds: 0.1 }] });
    await eventually(() => reported.length > 0);
    expect(reported).toEqual([{ id: 6, outcome: 'deadline' }]);
  });
});

/** A session whose calls are answered by `answer`, which gets the request. */
function sessionWith(answer: (path: string, said: unknown) => Promise<unknown>): Session {
  const call: Session['call'] = async ({ path, body, read }) => read(asBytes(await answer(path, body?.())));
  const never = (): never => {
    throw new Error('not a part of this test');
  };
  return { call, register: never, registered: never, order: never, renew: () => {}, token: () => 'token' };
}

const boot = { apiUrl: 'http://x', launchToken: 't', address: '127.0.0.1', cacheDir: '/x', powerOff: null };
const owner = { deploymentId: 'd', workspace: 'w', cluster: 1 };

describe('reports', () => {
  it('go out one at a time, with all that has happened, and nothing twice', async () => {
    const stopping = new AbortController();
    const said: ReportRequest[] = [];
    const answers: (() => void)[] = [];
    const session = sessionWith(async (_path, body) => {
      said.push(reportRequest.parse(body));
      await new Promise<void>((resolve) => answers.push(resolve));
      return { stop: null, token: null, orders: null };
    });
    const input = { bootId: 'b'.repeat(32), boot: { ...boot, owner }, stopping, session, aliveEveryMs: 60_000 };
    const reports = createReports(input);
    const running = reports.run();
    const process = { state: 'pending', name: 'scheduler', stage: 'one', address: null, reason: null } as const;
    reports.process(process);
    await eventually(() => said.length === 1);
    // A stage that repeats while its first report is pending is reported again: another stage was true in between.
    reports.process({ ...process, stage: 'two' });
    reports.process({ ...process, stage: 'three' });
    reports.scheduler(() => reportOf(state(), 1_000));
    reports.drained({ id: 1, outcome: 'drained' });
    reports.drained({ id: 2, outcome: 'kept' });
    answers[0]?.();
    await eventually(() => said.length === 2);
    expect(said[0]?.process?.stage).toBe('one');
    expect(said[1]).toMatchObject({ process: { stage: 'three' }, scheduler: { clients: 1 } });
    expect(said[1]?.drained?.map(({ id }) => id)).toEqual([1, 2]);
    reports.drained({ id: 3, outcome: 'unknown' });
    answers[1]?.();
    await eventually(() => said.length === 3);
    expect(said[2]).toEqual({
      ...{ kind: 'alive', bootId: 'b'.repeat(32), address: '127.0.0.1', text: '' },
      drained: [{ id: 3, outcome: 'unknown' }],
    });
    stopping.abort();
    answers[2]?.();
    await running;
  });

  it('say now and then that the agent lives, and pass on what the answers order', async () => {
    const stopping = new AbortController();
    const orders = { version: 3, schedulerAddress: null, drain: [], adaptive: null, stop: null };
    const said: unknown[] = [];
    const taken: Orders[] = [];
    const session = sessionWith(async (_path, body) => {
      said.push(body);
      const stop = said.length === 3 ? { code: 'STOP', text: 'over' } : null;
      return { stop, token: null, orders };
    });
    const input = { bootId: 'b'.repeat(32), boot: { ...boot, owner }, stopping, session, aliveEveryMs: 20 };
    await createReports({ ...input, onOrders: (latest) => taken.push(latest) }).run();
    expect(said).toHaveLength(3);
    expect(taken).toEqual([orders, orders]);
    expect(stopping.signal.reason).toEqual({ code: 'STOP', text: 'over' });
  });
});

describe('orders', () => {
  it('are taken from the source of the newest, and a stop ends the waiting', async () => {
    const stopping = new AbortController();
    const paths: string[] = [];
    const answers: ((orders: Orders) => void)[] = [];
    const session = sessionWith(async (path) => {
      paths.push(path);
      return new Promise<Orders>((resolve) => answers.push(resolve));
    });
    const subscription = createOrderSubscription({ session, stopping });
    const orders = (version: number, more: Partial<Orders> = {}): Orders => ({
      ...{ version, schedulerAddress: null, drain: [], adaptive: null, stop: null },
      ...more,
    });
    const versions: number[] = [];
    subscription.follow(({ version }) => versions.push(version));
    const address = subscription.when(({ schedulerAddress }) => schedulerAddress);
    const never = subscription.when(({ version }) => (version === 99 ? true : null));
    const running = subscription.run();
    await eventually(() => answers.length === 1);
    subscription.take(orders(4, { schedulerAddress: 'tls://a:1' }));
    answers[0]?.(orders(3));
    expect(await address).toBe('tls://a:1');
    await eventually(() => answers.length === 2);
    subscription.take(orders(4));
    answers[1]?.(orders(5, { stop: { code: 'IDLE', text: 'idle' } }));
    await running;
    expect(paths).toEqual(['/v1/agent/orders?seen=0', '/v1/agent/orders?seen=4']);
    expect(versions).toEqual([4]);
    expect(await never).toBeNull();
    expect(stopping.signal.reason).toEqual({ code: 'IDLE', text: 'idle' });
  });
});

describe('an environment', () => {
  it('always has Dask', () => {
    expect(withDefaults([]).toSorted()).toEqual([...defaultRequirements].toSorted());
    const more = withDefaults(['pandas==2.3.1', 'Bokeh >= 3']);
    expect(more).toContain('pandas==2.3.1');
    expect(more.filter((each) => each.startsWith('bokeh'))).toEqual(['bokeh>=3']);
    expect(more.filter((each) => each.startsWith('dask'))).toEqual(['dask==2026.8.0']);
  });

  it('has pip, which PipInstall of Dask runs, also as that of a client without pip', () => {
    for (const chosen of [withDefaults([]), withDefaults(['dask==2026.8.0'], true)]) {
      expect(chosen.filter((each) => each.startsWith('pip'))).toEqual(['pip==26.3']);
    }
  });

  it('lets a pinned Dask choose the version of distributed', () => {
    const chosen = withDefaults(['dask[dataframe]==2025.11.0']);
    expect(chosen.filter((each) => /^(dask|distributed)/.test(each))).toEqual([
      'dask[dataframe]==2025.11.0',
      'distributed',
    ]);
  });

  it('adds to the environment of a client no package on workers that Dask would warn of', () => {
    const client = ['dask==2026.8.0', 'distributed==2026.8.0', 'msgpack==1.2.1'];
    const names = (role: 'head' | 'worker', requirements = client) =>
      withDefaults(requirements, true, [], role).map((each) => /^[a-z0-9-]+/.exec(each)?.[0]);
    expect(names('worker')).not.toContain('bokeh');
    expect(names('worker')).not.toContain('lz4');
    expect(names('head')).toContain('bokeh');
    expect(names('worker', [...client, 'numpy==2.4.0'])).toContain('bokeh');
  });

  it('leaves a Dask that comes as a wheel, from git or a directory, without a version beside it', () => {
    const wheels = [{ name: 'dask-2026.8.1.dev3-py3-none-any.whl' }, { name: 'modules.zip' }];
    const chosen = withDefaults(['pandas==2.3.1'], true, wheels);
    expect(chosen.filter((each) => /^(dask|distributed)/.test(each))).toEqual(['distributed']);
  });
});

describe('variables', () => {
  it('that the provider passes on are those that build environments; tasks and Dask get fewer', () => {
    const own = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'ROPEWALK_INSTANCE'];
    expect(passedOn.filter((name) => !own.includes(name)).toSorted()).toEqual([...outside].toSorted());
    const all = Object.fromEntries([...own, ...outside, 'SECRET'].map((name) => [name, 'x']));
    expect(Object.keys(taskBase(all))).toEqual(['PATH', 'HOME', 'LANG', 'TMPDIR']);
    expect(Object.keys(daskBase(all)).filter((name) => /PIP|UV|SECRET|INSTANCE/.test(name))).toEqual([]);
    expect(daskBase(all)).toMatchObject({ HTTPS_PROXY: 'x', SSL_CERT_FILE: 'x' });
  });
});

it('a reported failure has no password of an index, and fits into a report', () => {
  const failure = asFailure('ENVIRONMENT_FAILED', new Error(`https://me:pass@host/simple ${'x'.repeat(2_000)}`));
  expect(failure.message).toMatch(/^https:\/\/\[secret\]@host\/… x/);
  expect(failure.message).toHaveLength(1_000);
  const known = new DaskFailure('NO_HELLO', 'silent');
  expect(asFailure('SCHEDULER_FAILED', known)).toBe(known);
});
