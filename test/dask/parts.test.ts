// The parts of agent/dask that need no Dask: command lines, and the link's protocol.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { build } from 'esbuild';
import { afterEach, describe, expect, it } from 'vitest';

import { readPreload } from '../../agent/dask/scheduler/preload.ts';
import { schedulerProcess, workerProcess } from '../../agent/dask/commands.ts';
import type { DaskProcess, SchedulerInput, WorkerInput } from '../../agent/dask/commands.ts';
import { environmentRuntime } from '../../agent/runtimes/environment/runtime.ts';
import { createSchedulerLink } from '../../agent/dask/scheduler/link.ts';
import type { SchedulerLink } from '../../agent/dask/scheduler/link.ts';
import { eventually } from '../support/eventually.ts';

const run = promisify(execFile);

const place = {
  instance: 'i_1',
  runtime: environmentRuntime({ directory: '/envs/one', leftOut: null, modules: null, user: null }),
  directory: '/work/i_1',
  host: '10.0.0.7',
  port: 8786,
  tls: { caFile: '/tls/ca.pem', certFile: '/tls/leaf.pem', keyFile: '/tls/leaf.key' },
  base: { PATH: '/usr/bin', HOME: undefined },
  env: { PASSWORD: 'hunter2', DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION: 'False' },
};
const aScheduler = (more: Partial<SchedulerInput> = {}): DaskProcess =>
  schedulerProcess({ ...place, socketPath: '/s.sock', preloadPath: '/p.py', httpPort: 0, ...more });
const aWorker = (more: Partial<WorkerInput> = {}): DaskProcess =>
  workerProcess({ ...place, scheduler: { address: 'tls://10.0.0.1:8786' }, name: 'c-worker-1', ...more });

describe('command lines', () => {
  it('of a scheduler listen for others with TLS and for HTTP on loopback', () => {
    expect(aScheduler().argv.join(' ')).toBe(
      '/envs/one/bin/python -m dask scheduler --host 10.0.0.7 --port 8786 --protocol tls ' +
        '--dashboard-address 127.0.0.1:0 --preload /p.py',
    );
  });

  it('of a scheduler name the kinds of usage that its owner allows', () => {
    expect(aScheduler().env['ROPEWALK_USAGE']).toBe('');
    expect(aScheduler({ usage: ['groups', 'memory'] }).env['ROPEWALK_USAGE']).toBe('groups,memory');
    expect(aScheduler({ env: { ROPEWALK_USAGE: 'exceptions' } }).env['ROPEWALK_USAGE']).toBe('');
  });

  it('of a worker have what it was given and nothing else', () => {
    const words = 'worker tls://10.0.0.1:8786 --name c-worker-1 --host 10.0.0.7 --worker-port 8786 --protocol tls';
    expect(aWorker().argv.join(' ')).toBe(
      `/envs/one/bin/python -m dask ${words} --dashboard-address 127.0.0.1:0 --local-directory /work/i_1 --nanny`,
    );
    const limited = aWorker({ nthreads: 2, memoryLimit: '2 GiB', nanny: false }).argv;
    expect(limited.slice(-5)).toEqual(['--nthreads', '2', '--memory-limit', '2 GiB', '--no-nanny']);
  });

  it('of several workers on an instance leave threads and names to Dask, or name each in a file', () => {
    expect(aWorker({ count: 2, port: 0, memoryLimit: 0.5 }).argv.slice(-5)).toEqual([
      ...['--memory-limit', '0.5', '--nworkers', '2', '--nanny'],
    ]);
    const { argv, files } = aWorker({ count: 2, port: 0, nthreads: 3, workerOptions: { resources: { a: 1 } } });
    expect(argv.slice(3)).toEqual(['spec', '--spec-file', '/work/i_1/dask-spec.json', 'tls://10.0.0.1:8786']);
    const spec = JSON.parse(files[0]?.content ?? '');
    expect(Object.keys(spec)).toEqual(['c-worker-1-0', 'c-worker-1-1']);
    expect(spec['c-worker-1-1']).toMatchObject({
      ...{ cls: 'distributed.Nanny', opts: { name: 'c-worker-1-1', nthreads: 3, resources: { a: 1 } } },
    });
  });

  it('of a worker that starts before its scheduler name the file in which it will be found', () => {
    const scheduler = { file: '/work/i_1/scheduler.json' };
    expect(aWorker({ scheduler }).argv.slice(2, 6)).toEqual(['dask', 'worker', '--scheduler-file', scheduler.file]);
    expect(() => aWorker({ scheduler, workerClass: 'their.Worker' })).toThrow('needs the address');
  });

  it('need encryption whatever the owner sets, name each role its own certificate, and show no secret', () => {
    const { env, argv } = aWorker();
    const role = 'DASK_DISTRIBUTED__COMM__TLS__';
    expect(env).toMatchObject({
      DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION: 'True',
      [`${role}CA_FILE`]: '/tls/ca.pem',
      [`${role}WORKER__KEY`]: '/tls/leaf.key',
      [`${role}CLIENT__CERT`]: '/tls/leaf.pem',
      PATH: '/envs/one/bin:/usr/bin',
      PASSWORD: 'hunter2',
      ROPEWALK_INSTANCE: 'i_1',
    });
    expect(Object.keys(env).filter((name) => name.includes('SCHEDULER') || name === 'HOME')).toEqual([]);
    expect(argv.join(' ')).not.toContain('hunter2');
    expect(Object.keys(aScheduler().env).filter((name) => /WORKER|CLIENT/.test(name))).toEqual([]);
    expect(aScheduler({ jupyter: true }).env[`${role}CLIENT__CERT`]).toBe('/tls/leaf.pem');
  });

  it('with options of the owner go through a file, and what keeps the cluster safe stays ours', () => {
    const { argv, files } = aWorker({
      workerClass: 'dask_cuda.CUDAWorker',
      workerOptions: { nthreads: 8, token: 't0p' },
    });
    expect(argv.slice(3)).toEqual(['spec', '--spec-file', '/work/i_1/dask-spec.json', 'tls://10.0.0.1:8786']);
    expect(JSON.parse(files[0]?.content ?? '')).toEqual({
      cls: 'dask_cuda.CUDAWorker',
      opts: {
        nthreads: 8,
        token: 't0p',
        name: 'c-worker-1',
        host: '10.0.0.7',
        port: 8786,
        protocol: 'tls',
        dashboard_address: '127.0.0.1:0',
        local_directory: '/work/i_1',
      },
    });
    const scheduler = aScheduler({ schedulerOptions: { preload: ['mine'] } });
    expect(JSON.parse(scheduler.files[0]?.content ?? '')).toMatchObject({
      cls: 'distributed.Scheduler',
      opts: { preload: ['/p.py', 'mine'], protocol: 'tls' },
    });
    expect(() => aWorker({ workerOptions: { host: '0.0.0.0' } })).toThrow('workerOptions.host cannot be set');
    expect(() => aScheduler({ schedulerOptions: { idle_timeout: '1h' } })).toThrow('schedulerOptions.idle_timeout');
  });
});

describe('the preload', () => {
  it('is part of a bundle that has no other file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ropewalk-bundle-'));
    try {
      const outfile = join(directory, 'bundle.mjs');
      const entry = fileURLToPath(new URL('../../agent/dask/scheduler/preload.ts', import.meta.url));
      const texts = await readPreload();
      const define = { ROPEWALK_PRELOAD_FILES: JSON.stringify(texts) };
      await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', define });
      const script = `import { writePreload } from ${JSON.stringify(outfile)}; console.log(await writePreload(${JSON.stringify(directory)}, null))`;
      const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
      const path = stdout.trim();
      expect([dirname(dirname(path)), basename(path)]).toEqual([directory, 'ropewalk_preload.py']);
      for (const [name, text] of Object.entries(texts)) {
        expect(await readFile(join(dirname(path), name), 'utf8')).toBe(text);
      }
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe('the link', () => {
  const links: SchedulerLink[] = [];
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const link of links.splice(0)) await link.close();
  });
  const hello = {
    kind: 'hello',
    protocol: 1,
    clockMs: 86_400_000,
    schedulerId: 's',
    address: 'tls://1.2.3.4:5',
    httpPort: null,
    distributed: '1',
    dask: '1',
    python: '3',
  };
  /** A link, with its other end under the test's control. */
  const linked = async () => {
    const troubles: string[] = [];
    const link = await createSchedulerLink({ onTrouble: (text) => void troubles.push(text) });
    links.push(link);
    const socket = connect(link.socketPath);
    sockets.push(socket);
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    const received: string[] = [];
    socket.setEncoding('utf8').on('data', (chunk: string) => void received.push(...chunk.split('\n').filter(Boolean)));
    return { link, troubles, socket, received, say: (message: object) => socket.write(`${JSON.stringify(message)}\n`) };
  };

  it('has a short path that only its owner can reach, and leaves nothing behind', async () => {
    const { link } = await linked();
    expect(Buffer.byteLength(link.socketPath)).toBeLessThan(104);
    expect((await stat(dirname(link.socketPath))).mode & 0o777).toBe(0o700);
    await link.close();
    await expect(stat(dirname(link.socketPath))).rejects.toThrow(/ENOENT/);
    await expect(createSchedulerLink({ socketPath: `/tmp/${'x'.repeat(120)}` })).rejects.toThrow(
      /too long for a socket/,
    );
  });

  it('gives the times of the scheduler by the clock of the agent', async () => {
    const { link, say } = await linked();
    const tasks = { processing: 0, waiting: 0, queued: 0, memory: 0, erred: 0, no_worker: 0 };
    const idle = {
      kind: 'state',
      tasks,
      clients: 0,
      idleSinceMs: hello.clockMs - 5_000,
      adaptiveTarget: 0,
      workers: [],
    };
    const beforeMs = performance.now();
    say(hello);
    say(idle);
    const { idleSinceMs } = await link.whenState(() => true, 5_000, 'any');
    expect(idleSinceMs).toBeGreaterThanOrEqual(Math.floor(beforeMs) - 5_000);
    expect(idleSinceMs).toBeLessThanOrEqual(Math.ceil(performance.now()) - 5_000);
  });

  it('joins lines that arrive in pieces, and logs those that it cannot parse', async () => {
    const { link, troubles, socket, say } = await linked();
    const text = JSON.stringify(hello);
    socket.write('no json\n{"kind":"hello","protocol":2}\n');
    socket.write(text.slice(0, 20));
    await eventually(() => troubles.length === 2);
    expect(link.isConnected()).toBe(true);
    await expect(link.whenHello(20)).rejects.toThrow(/did not report to its agent within 0.02 s/);
    socket.write(`${text.slice(20)}\n`);
    expect(await link.whenHello(5_000)).toEqual(hello);
    say({ kind: 'answer', id: 77, ok: true });
    expect(troubles).toHaveLength(2);
  });

  it('gives each order its own answer, and an end to each order', async () => {
    const { link, received, socket, say } = await linked();
    await eventually(() => link.isConnected());
    const first = link.order('workersToClose', { n: 1 });
    const second = link.order('workersToClose', { n: 2 });
    const third = link.order('setEnv', { env: { A: 'b' } });
    const late = link.order('closeAll', {}, 50);
    const lost = link.order('drain', { workers: ['a'], deadlineSeconds: 1 });
    // Awaited from here on: on a busy machine they are rejected before the checks below run.
    const both = Promise.allSettled([third, late]);
    await eventually(() => received.length === 5);
    expect(JSON.parse(received[0] ?? '')).toEqual({ kind: 'workersToClose', id: 1, n: 1 });
    say({ kind: 'answer', id: 2, ok: true, workers: ['two'] });
    say({ kind: 'answer', id: 1, ok: true, workers: ['one'] });
    say({ kind: 'answer', id: 3, ok: false, error: 'no' });
    expect([await first, await second]).toEqual([{ workers: ['one'] }, { workers: ['two'] }]);
    expect(await both).toMatchObject([
      { reason: { message: 'the Dask scheduler could not obey: no' } },
      { reason: { message: 'the Dask scheduler did not answer closeAll within 0.05 s' } },
    ]);
    socket.destroy();
    await expect(lost).rejects.toThrow('the Dask scheduler went away before it answered');
    await expect(link.order('closeAll', {})).rejects.toThrow(/not connected/);
  });

  it('ends what was asked over an older connection when a newer one comes first', async () => {
    const { link, received, say } = await linked();
    await eventually(() => link.isConnected());
    const lost = link.order('drain', { workers: ['a'], deadlineSeconds: 600 });
    await eventually(() => received.length === 1);
    sockets.push(connect(link.socketPath));
    await expect(lost).rejects.toThrow('the Dask scheduler went away before it answered');
    // An answer of the older connection, sent before the newer one connected: no order waits for it.
    say({ kind: 'answer', id: 1, ok: true, workers: { a: 'drained' } });
    expect(link.isConnected()).toBe(true);
  });
});
