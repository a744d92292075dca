// Real agents of one Dask cluster: a real scheduler, two real workers and real clients over TLS, against a stand-in for the API.
// The tests build on each other: both workers work at first, one is drained, the other is killed, then the cluster stops.
import { mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { environment } from '../builders/environment.ts';
import { ensureEnvironment } from '../../agent/runtimes/environment/environment.ts';
import { withDefaults } from '../../agent/runtimes/environment/with-defaults.ts';
import { scanProcesses } from '../../providers/local/processes.ts';
import type { ProcessEntry } from '../../providers/local/processes.ts';
import { relayPath } from '../../schema/relay.ts';
import { clientFiles } from '../dask/client-files.ts';
import { startDriver } from '../dask/driver.ts';
import type { Driver } from '../dask/driver.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { createDaskApi } from '../support/dask-api.ts';
import type { DaskApi } from '../support/dask-api.ts';
import { eventually } from '../support/eventually.ts';
import { createBench, launchAgent } from './harness.ts';
import type { Agent, Bench } from './harness.ts';

/** Shared by runs: building an environment takes longer than these tests. */
const cacheDir = fileURLToPath(new URL('../../node_modules/.cache/ropewalk/agent-cache', import.meta.url));
const seconds = { timeoutMs: 120_000 };

let bench: Bench;
let pythonDirectory: string;
beforeAll(async () => {
  bench = await createBench();
  await mkdir(cacheDir, { recursive: true });
  await symlink(cacheDir, join(bench.home, 'cache'));
  const request = { cacheDir, requirements: withDefaults([]), pythonPath: 'python3', environment: process.env };
  pythonDirectory = (await ensureEnvironment(request)).directory;
});
afterAll(() => bench.remove());

async function startCluster(dask: DaskApi): Promise<AgentApi> {
  const api = await startAgentApi();
  api.dask = dask;
  return api;
}

/** All process reports of an instance, without repetitions. */
function history(api: AgentApi, { id }: Agent): string[] {
  const said = api.reports.flatMap(({ instance, process }) => (instance === id && process ? [process] : []));
  const states = said.map(({ state, stage }) => `${state} ${stage}`);
  return states.filter((state, at) => state !== states[at - 1]);
}
const latest = (api: AgentApi, { id }: Agent) =>
  api.reports.findLast(({ instance, process }) => instance === id && process !== undefined)?.process;
const hasStarted = (api: AgentApi, agent: Agent): Promise<boolean> =>
  eventually(() => {
    if (latest(api, agent)?.state === 'error') throw new Error(JSON.stringify(latest(api, agent)));
    return latest(api, agent)?.state === 'started';
  }, seconds);
const processesOf = async (...agents: Agent[]): Promise<ProcessEntry[]> =>
  (await scanProcesses()).filter(({ instance }) => agents.some(({ id }) => id === instance));
const words = (api: AgentApi) => api.reports.flatMap(({ scheduler }) => (scheduler === undefined ? [] : [scheduler]));

describe('a Dask cluster', () => {
  let api: AgentApi;
  let dask: DaskApi;
  let head: Agent;
  let workers: [Agent, Agent];
  let driver: Driver;
  const nameOf = ({ id }: Agent): string => `job-7-worker-${id.slice(-8)}`;
  /** The process group that the agent recorded. */
  const groupOf = async ({ directory }: Agent): Promise<number> =>
    Number(JSON.parse(await readFile(join(directory, 'group.json'), 'utf8')).pid);

  beforeAll(async () => {
    dask = await createDaskApi({ env: { GREETING: 'hello' } });
    api = await startCluster(dask);
    head = await launchAgent(bench, api);
    await eventually(() => dask.head === head.id);
    workers = [await launchAgent(bench, api), await launchAgent(bench, api)];
    for (const agent of [head, ...workers]) await hasStarted(api, agent);
    driver = await startDriver(
      pythonDirectory,
      dask.orders.schedulerAddress ?? '',
      await clientFiles(dask.ca, bench.home),
    );
  });
  afterAll(async () => {
    await driver?.close();
    for (const agent of [head, ...(workers ?? [])]) await agent?.terminate();
    await api?.close();
  });

  it('reports the stages of its starting processes, and their addresses', () => {
    expect(history(api, head)).toEqual(['pending environment', 'starting dask', 'started dask']);
    expect(latest(api, head)).toMatchObject({ name: 'scheduler', reason: null });
    expect(latest(api, head)?.address).toMatch(/^tls:\/\/127\.0\.0\.1:\d+$/);
    for (const agent of workers) {
      expect(history(api, agent)).toEqual(['pending environment', 'starting dask', 'started dask']);
      expect(latest(api, agent)).toMatchObject({ name: nameOf(agent), reason: null });
      expect(latest(api, agent)?.address).toMatch(/^tls:\/\/127\.0\.0\.1:\d+$/);
    }
  });

  it('computes for a client, with the environment of the cluster and none of ours', async () => {
    const show = `
def environment():
    import os
    return dict(os.environ)
`;
    expect(await driver.python('result = client.submit(sum, [1, 2, 3]).result()')).toBe(6);
    const seen: Record<string, string>[] = [];
    seen.push(...Object.values<Record<string, string>>(JSON.parse(await shown(`client.run(environment)`))));
    seen.push(JSON.parse(await shown('client.run_on_scheduler(environment)')));
    expect(seen).toHaveLength(3);
    for (const variables of seen) {
      expect(variables).toMatchObject({ GREETING: 'hello', ROPEWALK_INSTANCE: expect.stringMatching(/^i_/) });
      expect(Object.keys(variables).filter((name) => /^(PIP|UV|VITEST|NODE)_/.test(name))).toEqual([]);
      expect(JSON.stringify(variables)).not.toMatch(/launch-secret|-series-|PRIVATE KEY/);
    }
    async function shown(call: string): Promise<string> {
      return String(await driver.python(`${show}\nimport json\nresult = json.dumps(${call})`));
    }
  });

  it('keeps its key in a file that only its owner can read', async () => {
    for (const { directory } of [head, ...workers]) {
      const [name = ''] = (await readdir(join(directory, 'work'))).filter((each) => each.startsWith('tls-'));
      const tls = join(directory, 'work', name);
      expect((await readdir(tls)).toSorted()).toEqual(['ca.pem', 'certificate.pem', 'key.pem']);
      expect((await stat(join(tls, 'key.pem'))).mode & 0o777).toBe(0o600);
      expect((await stat(tls)).mode & 0o777).toBe(0o700);
    }
  });

  it('reports clients and workers, and work when it begins', async () => {
    await eventually(() => words(api).at(-1)?.clients === 1 && words(api).at(-1)?.workers.length === 2);
    expect(
      words(api)
        .at(-1)
        ?.workers.map(({ name, status }) => `${name} ${status}`)
        .toSorted(),
    ).toEqual(workers.map((agent) => `${nameOf(agent)} running`).toSorted());
    const gate = join(bench.home, 'gate');
    await driver.python(`
def gated(gate):
    import os, time
    while not os.path.exists(gate):
        time.sleep(0.02)
future = client.submit(gated, ${JSON.stringify(gate)}, pure=False)
`);
    await eventually(() => words(api).at(-1)?.idleForMs === null);
    await writeFile(gate, '');
    await driver.python('future.result(); del future');
    await eventually(() => words(api).at(-1)?.idleForMs !== null);
    // Two changes of idleness, a client, two workers and Dask's targets: a few reports, not one for each check.
    expect(words(api).length).toBeLessThan(15);
  });

  it('offers its dashboard to the API, from the head instance alone', async () => {
    await eventually(() => api.arrivals.some(({ path }) => path === relayPath));
    const troubled = async (agent: Agent): Promise<boolean> =>
      (await agent.lines()).some(({ text }) => text.startsWith('The dashboard relay is disconnected'));
    // This API has no relay: an agent that connects to it logs one line that the relay is disconnected.
    await eventually(() => troubled(head));
    for (const agent of workers) expect(await troubled(agent)).toBe(false);
  });

  it('leaves what its processes print in the instance`s log', async () => {
    const lines = await workers[0].lines();
    const printed = lines.filter(({ stream }) => stream === 'stdout' || stream === 'stderr');
    expect(printed.map(({ text }) => text).join('\n')).toContain('Registered to: ');
    expect(printed[0]).toMatchObject({ task: null, attempt: null, instance: workers[0].id });
  });

  it('drains a worker once, however often it is ordered', async () => {
    const [drained] = workers;
    const order = { id: 1, worker: nameOf(drained), deadlineSeconds: 30 };
    dask.update({ drain: [order] });
    dask.update({ drain: [order, { id: 2, worker: 'job-7-worker-unknown0', deadlineSeconds: 30 }] });
    const outcomes = (): object[] => api.reports.flatMap((report) => report.drained ?? []);
    await eventually(() => outcomes().length === 2);
    await eventually(() => latest(api, drained)?.state === 'stopping');
    dask.update({ drain: [order] });
    // The next report follows a new read of the orders.
    await driver.python('other = distributed.Client(address, security=client.security, set_as_default=False)');
    await eventually(() => words(api).at(-1)?.clients === 2);
    expect(outcomes()).toHaveLength(2);
    expect(outcomes()).toEqual(
      expect.arrayContaining([
        { id: 1, outcome: 'drained' },
        { id: 2, outcome: 'unknown' },
      ]),
    );
    expect((await head.lines()).filter(({ text }) => text.startsWith('Drain 1 of'))).toHaveLength(1);
    await drained.terminate();
    expect(await processesOf(drained)).toEqual([]);
  });

  it('reports a worker that ends by itself, and waits', async () => {
    const [, killed] = workers;
    process.kill(await groupOf(killed), 'SIGKILL');
    await eventually(() => latest(api, killed)?.state === 'error');
    expect(latest(api, killed)).toMatchObject({
      name: nameOf(killed),
      reason: { code: 'PROCESS_EXITED', text: expect.stringContaining('SIGKILL') },
    });
    expect(await killed.hasEnded()).toBe(false);
    expect((await processesOf(killed)).map(({ pid }) => pid)).toEqual([killed.pid]);
  });

  it('ends with everything it started when it is ordered to', async () => {
    const [, killed] = workers;
    expect((await processesOf(head)).length).toBeGreaterThan(1);
    dask.update({ stop: { code: 'IDLE', text: 'nothing was computed' } });
    for (const agent of [head, killed]) await eventually(() => agent.hasEnded());
    expect(await processesOf(head, ...workers)).toEqual([]);
    expect((await head.lines()).at(-1)?.text).toBe('The agent ends: nothing was computed (IDLE)');
  });
});

describe('an instance of a Dask cluster', () => {
  let api: AgentApi;
  let agent: Agent;
  afterEach(async () => {
    await agent.terminate();
    await api.close();
  });

  it('whose environment cannot be made says so', async () => {
    api = await startCluster(
      await createDaskApi({ runtime: { kind: 'environment', ...environment(['pandas', '--index-url=http://x']) } }),
    );
    agent = await launchAgent(bench, api);
    await eventually(() => latest(api, agent)?.state === 'error');
    expect(latest(api, agent)?.reason).toMatchObject({
      code: 'ENVIRONMENT_FAILED',
      text: expect.stringContaining('requirements[1] is "--index-url=http://x"'),
    });
    expect(await agent.hasEnded()).toBe(false);
  });

  it('whose scheduler cannot start says so', async () => {
    api = await startCluster(await createDaskApi({ schedulerClass: 'no_such_module.Scheduler' }));
    agent = await launchAgent(bench, api);
    await eventually(() => latest(api, agent)?.state === 'error', seconds);
    expect(latest(api, agent)?.reason).toMatchObject({
      code: 'PROGRAM_ERROR',
      text: expect.stringContaining('no_such_module'),
    });
  });

  it('takes its scheduler along when it is killed and its instance terminated', async () => {
    api = await startCluster(await createDaskApi());
    agent = await launchAgent(bench, api);
    await hasStarted(api, agent);
    process.kill(agent.pid, 'SIGKILL');
    await eventually(() => agent.hasEnded());
    expect((await processesOf(agent)).length).toBeGreaterThan(0);
    await agent.terminate();
    expect(await processesOf(agent)).toEqual([]);
    expect(await readdir(agent.directory)).not.toContain('work');
  });
});
