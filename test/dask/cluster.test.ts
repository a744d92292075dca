// A Dask cluster under the agent's orders, with real schedulers, workers and clients. The tests of one version share one cluster
// and build on each other: workers a, b and c at first; a is drained, d comes later.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Hello, SchedulerState } from '../../agent/dask/scheduler/messages.ts';
import type { RunningProcess } from '../../agent/dask/run-process.ts';
import { createSchedulerLink } from '../../agent/dask/scheduler/link.ts';
import { eventually } from '../support/eventually.ts';
import { createBench } from './bench.ts';
import type { Bench } from './bench.ts';
import { createCertificates } from './certificates.ts';
import { startDriver } from './driver.ts';
import type { Driver } from './driver.ts';
import { daskVersions } from './environments.ts';
import { listeningAddresses } from './sockets.ts';

/** `gated` waits for its gate, a file, and leaves a mark for each run of its own. */
const tasks = (directory: string): string => `
import os, time, uuid
def gated(name, gate, after=()):
    open(os.path.join(${JSON.stringify(directory)}, 'marks', name + '~' + uuid.uuid4().hex), 'w').close()
    while not os.path.exists(os.path.join(${JSON.stringify(directory)}, gate)):
        time.sleep(0.02)
    return name
def nested(gate):
    from distributed import get_client
    return get_client().submit(gated, 'inner', gate, pure=False).result()
def fails():
    raise ValueError('on purpose')
`;

describe.each(daskVersions)('a cluster of distributed %s', (version) => {
  let bench: Bench;
  let hello: Hello;
  let scheduler: RunningProcess;
  let driver: Driver;
  let socketDirectory: string;
  const workers: Record<string, RunningProcess> = {};
  const startedAtMs = performance.now();

  const open = (gate: string): Promise<void> => writeFile(join(bench.directory, gate), '');
  const marks = async (): Promise<string[]> =>
    (await readdir(join(bench.directory, 'marks'))).map((mark) => mark.split('~')[0] ?? '').toSorted();
  const state = (what: string, holds: (state: SchedulerState) => boolean): Promise<SchedulerState> =>
    bench.link.whenState(holds, 15_000, what);
  const statusOf = (name: string): string | undefined =>
    bench.link.state()?.workers.find((worker) => worker.name === name)?.status;

  beforeAll(async () => {
    // A path outside the bench outlives the link, as an agent's must across its restart.
    socketDirectory = await mkdtemp(join(tmpdir(), 'rw-test-'));
    bench = await createBench(version, join(socketDirectory, 's.sock'));
    await mkdir(join(bench.directory, 'marks'));
    scheduler = await bench.startScheduler({ usage: ['groups', 'exceptions', 'memory'] });
    hello = await scheduler.orEnded(bench.link.whenHello(60_000));
    const named = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => [name, await bench.startWorker(hello, name)] as const),
    );
    for (const [name, worker] of named) workers[name] = worker;
    await Promise.all(named.map(([, worker]) => worker.whenRegistered(60_000)));
    driver = await startDriver(bench.pythonDirectory, hello.address, bench.certificates.client);
    await driver.python(tasks(bench.directory));
  });
  afterAll(async () => {
    await driver?.close();
    await bench?.close();
    await rm(socketDirectory, { recursive: true, force: true });
  });

  it('reports its versions and address, and listens on loopback alone', async () => {
    expect(hello).toMatchObject({ protocol: 1, distributed: version, dask: version });
    expect(hello.address).toMatch(/^tls:\/\/127\.0\.0\.1:\d+$/);
    expect(hello.httpPort).toBeGreaterThan(0);
    const health = await fetch(`http://127.0.0.1:${hello.httpPort}/health`);
    expect(health.status).toBe(200);
    const found = [scheduler, ...Object.values(workers)].map(({ pid }) => listeningAddresses(pid));
    // Comm and HTTP for each, and a nanny's comm and HTTP besides.
    expect(found.map((addresses) => addresses.length >= 2)).toEqual([true, true, true, true]);
    expect(new Set(found.flat())).toEqual(new Set(['0100007F']));
  });

  it('counts tasks as they are, clients that people have, and the time since the last work', async () => {
    const before = await state('one client', ({ clients }) => clients === 1);
    expect(before.idleSinceMs).toBeGreaterThanOrEqual(startedAtMs);
    expect(before.workers.filter(({ address }) => !address.startsWith('tls://127.0.0.1:'))).toEqual([]);
    expect(before.workers.map(({ name, status }) => `${name} ${status}`).toSorted()).toEqual([
      'a running',
      'b running',
      'c running',
    ]);
    await driver.python(`
bad = client.submit(fails)
distributed.wait(bad)
held = [client.submit(gated, f'held-{i}', 'count', pure=False) for i in range(10)]
after = client.submit(len, held)
nowhere = client.submit(len, [], workers=['127.0.0.9'], key='nowhere')
`);
    await bench.link.order('adaptive', { targetDurationSeconds: 0.1, intervalSeconds: 0.25 });
    const busy = await state(
      'ten at work or queued, for which it would like to have more workers',
      ({ tasks, adaptiveTarget }) => tasks.processing + tasks.queued === 10 && adaptiveTarget > 3,
    );
    expect(busy).toMatchObject({ tasks: { waiting: 1, no_worker: 1, memory: 0, erred: 1 }, idleSinceMs: null });
    // Three threads, and one more key for each is sent ahead.
    expect(busy.tasks).toMatchObject({ processing: 6, queued: 4 });
    await bench.link.order('adaptive', { targetDurationSeconds: 3_600, intervalSeconds: 0.25 });
    await state('one worker is enough in an hour', ({ adaptiveTarget }) => adaptiveTarget <= 3);

    const openedAtMs = performance.now();
    await open('count');
    await driver.python('distributed.wait(after); nowhere.release()');
    const done = await state('all done', ({ tasks }) => tasks.memory === 11 && tasks.no_worker === 0);
    expect(done.tasks).toEqual({ processing: 0, queued: 0, waiting: 0, no_worker: 0, memory: 11, erred: 1 });
    expect(done.idleSinceMs).toBeGreaterThanOrEqual(openedAtMs);

    await driver.python('del bad, held, after, nowhere');
    const empty = await state('all forgotten', ({ tasks }) => tasks.memory === 0 && tasks.erred === 0);
    expect(empty.idleSinceMs).not.toBeNull();
    // The counts of computed tasks outlive their forgotten keys; the message of the exception is not sent.
    expect(empty.usage?.groups?.map(({ name, tasks, erred }) => ({ name, tasks, erred }))).toEqual(
      expect.arrayContaining([
        { name: 'gated', tasks: 10, erred: 0 },
        { name: 'fails', tasks: 0, erred: 1 },
      ]),
    );
    expect(empty.usage?.exceptions).toEqual([{ type: 'ValueError', count: 1 }]);
    expect(empty.usage?.memory?.usedBytes).toBeGreaterThan(0);
    expect(empty.usage?.groups?.[0]?.computeSeconds).toBeGreaterThan(0);
    await driver.python(`other = distributed.Client(address, security=client.security, set_as_default=False)`);
    await state('two clients', ({ clients }) => clients === 2);
    await driver.python('other.close(); nest = client.submit(nested, "nest")');
    // The task's own client has submitted its task, and is not counted.
    await eventually(async () => (await marks()).includes('inner'));
    await state(
      'one client again, two tasks',
      ({ clients, tasks: { processing } }) => clients === 1 && processing === 2,
    );
    await open('nest');
    expect(await driver.python('result = nest.result(); del nest')).toBe('inner');
  });

  it('drains a worker: what runs there ends, what waits there moves, what it holds survives, nothing runs twice', async () => {
    await driver.python(`
on_a = dict(workers=['a'], allow_other_workers=True, pure=False)
held = [client.submit(gated, f'kept-{i}', 'count', **on_a) for i in range(5)]
distributed.wait(held)
busy = [client.submit(gated, f'busy-{name}', f'gate-{name}', workers=[name], allow_other_workers=True, pure=False) for name in 'abc']
`);
    await eventually(async () => (await marks()).filter((mark) => mark.startsWith('busy-')).length === 3);
    // b and c are saturated: Dask would leave the waiting task at a.
    await driver.python(`
more = [client.submit(gated, f'more-{name}', 'gate-more', workers=[name], allow_other_workers=True, pure=False) for name in 'abc']
`);
    await state('two at each', ({ workers: all }) => all.every(({ processing }) => processing === 2));
    const order = bench.link.order('drain', { workers: ['a', 'never-was'], deadlineSeconds: 60 });
    await state('the waiting one moved', ({ workers: all }) =>
      all.some(({ name, status, processing }) => name === 'a' && status === 'closing_gracefully' && processing === 1),
    );
    await open('gate-a');
    expect(await order).toEqual({ workers: { a: 'drained', 'never-was': 'unknown' } });
    expect((await workers['a']?.ended)?.code).toBe('CLOSED');
    await open('gate-b');
    await open('gate-c');
    await open('gate-more');
    expect(await driver.python('result = client.gather(held + busy + more)')).toHaveLength(11);
    const ran = (await marks()).filter((mark) => /^(kept|busy|more)-/.test(mark));
    expect(ran).toEqual([...new Set(ran)]);
    expect(ran).toHaveLength(11);
    const recomputed = await driver.python(`
def lost(keys, dask_scheduler):
    return [str(t[0]) for t in dask_scheduler.story(*keys) if tuple(t[1:3]) == ('memory', 'released')]
result = client.run_on_scheduler(lost, [f.key for f in held + busy + more])
`);
    expect(recomputed).toEqual([]);
    // Repeated because the answer was lost: the same answer.
    expect(await bench.link.order('drain', { workers: ['a'], deadlineSeconds: 1 })).toEqual({
      workers: { a: 'drained' },
    });
  });

  it('gives up a drain at its deadline, and resumes the worker on request', async () => {
    await driver.python(`late = client.submit(gated, 'late', 'gate-late', workers=['b'], pure=False)`);
    await eventually(async () => (await marks()).includes('late'));
    const slow = bench.link.order('drain', { workers: ['b'], deadlineSeconds: 600 });
    await state('b leaves', () => statusOf('b') === 'closing_gracefully');
    // The newest order decides the answer to both.
    expect(await bench.link.order('drain', { workers: ['b'], deadlineSeconds: 0.2 })).toEqual({
      workers: { b: 'deadline' },
    });
    expect(await slow).toEqual({ workers: { b: 'deadline' } });
    expect(statusOf('b')).toBe('closing_gracefully');
    expect(await bench.link.order('resume', { workers: ['b', 'x'] })).toEqual({
      workers: { b: 'resumed', x: 'unknown' },
    });
    await state('b is back', () => statusOf('b') === 'running');
    await open('gate-late');
    expect(await driver.python('result = late.result()')).toBe('late');
    expect((await marks()).filter((mark) => mark === 'late')).toHaveLength(1);
  });

  it('keeps workers whose data has no other place', async () => {
    expect(await bench.link.order('drain', { workers: ['b', 'c'], deadlineSeconds: 30 })).toEqual({
      workers: { b: 'kept', c: 'kept' },
    });
    await state('both are back', () => statusOf('b') === 'running' && statusOf('c') === 'running');
    expect(await driver.python('result = client.submit(len, [1, 2, 3], pure=False).result()')).toBe(3);
  });

  it('sets environment variables for the scheduler, for workers there are and for those to come', async () => {
    const secret = `s3cret-${version}`;
    const seen = (name: string): string => `
def seen(name):
    import os
    return os.environ.get(name)
result = sorted(map(str, client.run(seen, ${JSON.stringify(name)}).values())) + [str(client.run_on_scheduler(seen, ${JSON.stringify(name)}))]
`;
    await bench.link.order('setEnv', { env: { DATA_KEY: secret, OTHER: 'one' } });
    await bench.link.order('setEnv', { env: { OTHER: 'two' } });
    workers['d'] = await bench.startWorker(hello, 'd', { nanny: false });
    await workers['d'].whenRegistered(60_000);
    expect(await driver.python(seen('DATA_KEY'))).toEqual([secret, secret, secret, secret]);
    expect(await driver.python(seen('OTHER'))).toEqual(['two', 'two', 'two', 'two']);
    await bench.link.order('setEnv', { env: { DATA_KEY: null } });
    expect(await driver.python(seen('DATA_KEY'))).toEqual(['None', 'None', 'None', 'None']);
    await expect(
      // A value that no environment can hold: the failure's text could contain the secret.
      bench.link.order('setEnv', { env: { [`BAD=${secret}`]: `${secret}\0` } }),
    ).rejects.toThrow(/^the Dask scheduler could not obey: ValueError$/);
    // It does not block the next order either.
    await bench.link.order('setEnv', { env: { OTHER: 'three' } });
    expect(await driver.python(seen('OTHER'))).toEqual(['three', 'three', 'three', 'three']);
    expect(bench.lines.filter((line) => line.includes(secret))).toEqual([]);
  });

  it('refuses plaintext and certificates of another CA', async () => {
    const foreign = await createCertificates(join(bench.directory, 'foreign'));
    const attempt = (to: string, with_: string): string => `
try:
    distributed.Client(${to}, security=${with_}, timeout=1, set_as_default=False)
    result = 'connected'
except OSError as error:
    result = 'refused'
`;
    const files = JSON.stringify(JSON.stringify(foreign.client));
    const own = JSON.stringify(JSON.stringify({ ...foreign.client, caFile: bench.certificates.client.caFile }));
    expect(await driver.python(attempt('address', 'client.security'))).toBe('connected');
    const refused = [
      attempt(`address.replace('tls', 'tcp')`, 'distributed.Security(require_encryption=False)'),
      attempt('address', `security(__import__('json').loads(${files}))`),
      // It trusts the cluster, but the cluster does not know it.
      attempt('address', `security(__import__('json').loads(${own}))`),
    ];
    for (const code of refused) expect(await driver.python(code)).toBe('refused');
  });

  it('reconnects to its agent after the agent was unavailable', async () => {
    const { socketPath } = bench.link;
    await bench.link.close();
    bench.link = await createSchedulerLink({ socketPath });
    expect(await bench.link.whenHello(15_000)).toEqual({ ...hello, clockMs: expect.any(Number) });
    const again = await state('three workers', ({ workers: all }) => all.length === 3);
    expect(again.clients).toBeGreaterThanOrEqual(1);
  });

  it('names the workers that it can miss best, retires them, and closes with all its workers', async () => {
    const { workers: chosen } = await bench.link.order('workersToClose', { n: 1 });
    expect(chosen).toHaveLength(1);
    const [name = ''] = chosen;
    expect(await bench.link.order('retire', { workers: [name, 'x'] })).toEqual({
      workers: { [name]: 'retired', x: 'unknown' },
    });
    expect((await workers[name]?.ended)?.code).toBe('CLOSED');
    await bench.link.order('closeAll', {});
    const ends = await Promise.all([scheduler, ...Object.values(workers)].map(({ ended }) => ended));
    expect(ends.map(({ code }) => code)).toEqual(['CLOSED', 'CLOSED', 'CLOSED', 'CLOSED', 'CLOSED']);
    expect(ends[0]?.text).toBe('Dask closed it: ropewalk-close-all');
    await expect(bench.link.order('workersToClose', { n: 1 })).rejects.toThrow(/is not connected/);
  });
});
