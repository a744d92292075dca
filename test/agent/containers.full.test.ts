// Real containers of podman: real agents run tasks and a Dask cluster in images that are built here. Whatever is killed, no
// container of an instance outlives it.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { ensureEnvironment } from '../../agent/runtimes/environment/environment.ts';
import { withDefaults } from '../../agent/runtimes/environment/with-defaults.ts';
import type { Bundle } from '../../schema/agent.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { containersOf, hasPodman, importImage, podman, podmanConfiguration } from '../support/container-image.ts';
import { createDaskApi } from '../support/dask-api.ts';
import { eventually } from '../support/eventually.ts';
import { clientFiles } from '../dask/client-files.ts';
import { startDriver } from '../dask/driver.ts';
import { createBench, launchAgent, scriptFile } from './harness.ts';
import type { Agent, Bench } from './harness.ts';

const cacheDir = fileURLToPath(new URL('../../node_modules/.cache/ropewalk/agent-cache', import.meta.url));
const seconds = { timeoutMs: 120_000 };
const [plain, withDask] = ['localhost/ropewalk-plain:test', 'localhost/ropewalk-dask:test'];
const shellPrograms = ['/bin/bash', '/bin/sh', '/bin/sleep', '/bin/cat', '/usr/bin/env', '/usr/bin/setsid'];
const container = (image: string, more: Partial<Extract<Bundle['runtime'], { kind: 'container' }>> = {}) =>
  ({ kind: 'container', image, ignoreEntrypoint: false, registryAuth: {}, ...more }) as const;

describe.runIf(await hasPodman())('an agent with podman', () => {
  let bench: Bench;
  let place: string;
  let configuration: string;
  let pythonDirectory: string;
  let api: AgentApi;
  let agents: Agent[] = [];

  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'ropewalk-containers-'));
    configuration = await podmanConfiguration(place);
    // Agents get it from their provider, which reads it when it is created.
    process.env['CONTAINERS_CONF'] = configuration;
    bench = await createBench();
    await mkdir(cacheDir, { recursive: true });
    await symlink(cacheDir, join(bench.home, 'cache'));
    await importImage(configuration, plain, { programs: shellPrograms });
    const request = { cacheDir, requirements: withDefaults([]), pythonPath: 'python3', environment: process.env };
    pythonDirectory = (await ensureEnvironment(request)).directory;
    await importPython(configuration, withDask, pythonDirectory);
  });
  afterAll(async () => {
    delete process.env['CONTAINERS_CONF'];
    await podman(configuration, 'rmi', '--force', plain, withDask);
    await bench.remove();
    await rm(place, { recursive: true });
  });
  afterEach(async () => {
    for (const agent of agents) await agent.terminate();
    const left = await Promise.all(agents.map(({ id }) => containersOf(configuration, id)));
    if (left.flat().length > 0) throw new Error(`${left.flat().length} containers are left`);
    agents = [];
    await api.close();
  });

  async function launch(bundle: Partial<Bundle>): Promise<Agent> {
    api = await startAgentApi(bundle);
    const agent = await launchAgent(bench, api);
    agents.push(agent);
    return agent;
  }
  const taskRuns = (agent: Agent) =>
    eventually(
      async () => (await agent.lines({ tasks: new Set([0]) })).some(({ text }) => text === 'running'),
      seconds,
    );

  it('runs the script of a task in the image, with its files, its variables and its exit code', async () => {
    const script = [
      '#!/bin/bash',
      'echo "Hello from $COILED_BATCH_TASK_ID"; echo "$TEXT"; echo "$PATH"; echo "problem" > /dev/stderr',
      `[ -e ${process.execPath} ] || echo "another file system"`,
      'cat data.txt; echo made > made.txt; exit 7',
    ];
    const env = { TEXT: 'two\nlines', HOME: '/elsewhere' };
    const files = [scriptFile('my_script.sh', script.join('\n')), scriptFile('data.txt', 'brought\n')];
    const agent = await launch({ runtime: container(plain), command: ['my_script.sh'], env, files });
    api.enqueue(3);
    const result = await eventually(() => api.results()[0], seconds);
    const lines = await agent.lines({ tasks: new Set([3]) });
    const said = (stream: string) => lines.filter((line) => line.stream === stream).map(({ text }) => text);
    expect({ exitCode: result.exitCode, stdout: said('stdout'), stderr: said('stderr') }).toEqual({
      exitCode: 7,
      stdout: ['Hello from 3', 'two', 'lines', expect.stringContaining('/bin'), 'another file system', 'brought'],
      stderr: ['problem'],
    });
    expect(await containersOf(configuration, agent.id)).toEqual([]);
    expect((await readdir(agent.directory)).filter((name) => name.endsWith('.env'))).toEqual([]);
  });

  it('sends TERM to a command whose lease has ended, and removes a container that ignores it', async () => {
    const command = ['bash', '-c', 'trap "" TERM; echo running; sleep 1000 & wait; sleep 1000'];
    const agent = await launch({ runtime: container(plain), command });
    api.enqueue(0);
    await taskRuns(agent);
    expect(await containersOf(configuration, agent.id)).toHaveLength(1);
    api.ended.add(1);
    await eventually(async () => (await containersOf(configuration, agent.id)).length === 0, seconds);
    expect(await agent.hasEnded()).toBe(false);
  });

  it('leaves no container when the agent and the client of the engine are killed', async () => {
    const hidden = 'setsid env -i /bin/sleep 1000 & echo running; exec env -i /bin/sleep 1000';
    const agent = await launch({ runtime: container(plain), command: ['bash', '-c', hidden] });
    api.enqueue(0);
    await taskRuns(agent);
    const group: unknown = JSON.parse(await readFile(join(agent.directory, 'group.json'), 'utf8'));
    process.kill(agent.pid, 'SIGKILL');
    process.kill(-Number(Reflect.get(Object(group), 'pid')), 'SIGKILL');
    expect(await containersOf(configuration, agent.id)).toHaveLength(1);
    await agent.terminate();
    expect(await containersOf(configuration, agent.id)).toEqual([]);
  });

  it('leaves a job whose image cannot be pulled, and says why', async () => {
    const agent = await launch({ runtime: container('127.0.0.1:9/nothing/here:1'), command: ['true'] });
    api.enqueue(0);
    const leaving = await eventually(() => api.reports.find(({ kind }) => kind === 'leaving'), seconds);
    expect(leaving.text).toContain('The image 127.0.0.1:9/nothing/here:1 could not be pulled: podman says:');
    expect(api.exchanges).toEqual([]);
    await eventually(() => agent.hasEnded());
  });

  it('runs the scheduler and a worker of a Dask cluster in an image that has distributed', async () => {
    const dask = await createDaskApi({ runtime: container(withDask) });
    api = await startAgentApi();
    api.dask = dask;
    agents = [await launchAgent(bench, api)];
    await eventually(() => dask.head !== null, seconds);
    agents.push(await launchAgent(bench, api));
    const started = () => api.reports.flatMap(({ process }) => (process?.state === 'started' ? [process.address] : []));
    await eventually(() => {
      const failed = api.reports.find(({ process }) => process?.state === 'error');
      if (failed !== undefined) throw new Error(JSON.stringify(failed));
      return started().length >= 2;
    }, seconds);
    const inside = await Promise.all(agents.map(({ id }) => containersOf(configuration, id)));
    expect(inside.map((each) => each.length)).toEqual([1, 1]);
    const address = dask.orders.schedulerAddress ?? '';
    const driver = await startDriver(pythonDirectory, address, await clientFiles(dask.ca, bench.home));
    const where = `lambda: __import__("os").path.exists("${process.execPath}")`;
    const computed = await driver.python(`result = client.submit(${where}, pure=False).result(timeout=60)`);
    await driver.close();
    expect(computed).toBe(false);
  });

  it('refuses an image without distributed for Dask, and says what it needs', async () => {
    api = await startAgentApi();
    api.dask = await createDaskApi({ runtime: container(plain) });
    agents = [await launchAgent(bench, api)];
    const failed = await eventually(
      () => api.reports.find(({ process }) => process?.state === 'error')?.process,
      seconds,
    );
    expect(failed.reason).toMatchObject({
      code: 'ENVIRONMENT_FAILED',
      text: expect.stringContaining(`The image ${plain} cannot run a Dask cluster: it needs Python with the packages`),
    });
  });
});

/** The Python of an environment of this machine, with its packages, as an image. */
async function importPython(configuration: string, name: string, environment: string): Promise<void> {
  const show =
    'import sys, sysconfig; print(sys.base_prefix, "%d.%d" % sys.version_info[:2], sysconfig.get_path("purelib"))';
  const { stdout } = await promisify(execFile)(join(environment, 'bin', 'python'), ['-c', show]);
  const [prefix = '', version = '', site = ''] = stdout.trim().split(' ');
  const library = join(prefix, 'lib', `python${version}`);
  const dynamic = (await readdir(join(library, 'lib-dynload'))).map((file) => join(library, 'lib-dynload', file));
  const packages = await readdir(site, { recursive: true });
  const compiled = packages.filter((path) => path.endsWith('.so')).map((path) => join(site, path));
  const python = join(prefix, 'bin', `python${version}`);
  await importImage(configuration, name, {
    programs: [...shellPrograms, python, ...dynamic, ...compiled],
    trees: { [library]: library, [join(library, 'site-packages')]: site },
    links: { '/usr/bin/python3': python },
  });
}
