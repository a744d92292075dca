// The sweep on a real stack, with real agents as its instances: owned, orphaned in three ways, foreign and young ones. The oracle
// is the process table.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { buildAgent } from '../../agent/build.ts';
import { createLocalProvider } from '../../providers/local/provider.ts';
import type { Owner, Provider } from '../../providers/provider.ts';
import { createClient } from '../../sdk/client.ts';
import { clusterWorkflowId } from '../../contracts/cluster.ts';
import { jobWorkflowId } from '../../contracts/job.ts';
import { controlQueue } from '../../contracts/flush.ts';
import { sweepScheduleId, type SweepInput, type SweepReport, sweepType } from '../../contracts/sweep.ts';
import { runCli } from '../cli/run-cli.ts';
import { type AgentApi, startAgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';
import { agentPids, isAlive, read } from '../support/kills.ts';
import { startStack, type TestStack } from '../support/stack.ts';

const host = z.object({ hostId: z.string(), deploymentId: z.string() });
const graceSeconds = 2;

describe('the sweep', () => {
  let stack: TestStack;
  let api: AgentApi;
  let client: Client;
  let provider: Provider;
  let own: z.infer<typeof host>;
  beforeAll(async () => {
    stack = await startStack({ overrides: { sweep: { everySeconds: 1, graceSeconds } } });
    api = await startAgentApi();
    client = new Client({
      connection: await Connection.connect({ address: stack.temporalAddress }),
      namespace: stack.namespace,
    });
    own = host.parse(read(join(stack.home, 'host.json')));
    const agentBundle = join(stack.home, 'planted-agent.mjs');
    await buildAgent(agentBundle);
    const { home } = stack;
    provider = createLocalProvider({ home, agentBundle, nodePath: process.execPath, maxInstances: 100, cores: 2 });
  });
  afterAll(async () => {
    await client?.connection.close();
    // Foreign instances too are real processes: the end of a stack ends every instance of its home.
    await stack?.stop();
    await api?.close();
  });

  /** Agents of a stand-in for the API: only the sweep ends them. */
  async function plant(cluster: number, deploymentId = own.deploymentId): Promise<string[]> {
    const owner: Owner = { deploymentId, workspace: 'default', cluster };
    const slots = [0, 1].map((slot) => ({ slot, generation: 1, role: 'worker' as const }));
    const token = `planted ${deploymentId} ${cluster} ${Date.now()}`;
    const request = { owner, clusterName: 'planted', token, slots, apiUrl: api.url, launchToken: api.launchToken };
    const { launched } = await provider.launch(request);
    return launched.map(({ id }) => id);
  }

  async function runningJob(): Promise<{ number: number; ids: string[] }> {
    const before = new Set(agentPids(stack.home).keys());
    const jobs = createClient({ apiUrl: stack.apiUrl, token: stack.token }).jobs;
    const { number } = await jobs.create({ command: ['sleep', '600'], ntasks: 2 });
    await eventually(async () => (await jobs.get(number)).tasks.running === 2);
    return { number, ids: [...agentPids(stack.home).keys()].filter((id) => !before.has(id)) };
  }

  const pidOf = (id: string): number => agentPids(stack.home).get(id) ?? 0;
  const sweepsTaken = async (): Promise<number> => {
    const schedule = client.schedule.getHandle(sweepScheduleId(`local/${own.hostId}`));
    return (await schedule.describe()).info.numActionsTaken;
  };

  it('ends orphans, and leaves owned, foreign and young instances alone', async () => {
    const owned = await runningJob();
    const frozen = await runningJob();
    const finished = await createClient({ apiUrl: stack.apiUrl, token: stack.token }).jobs.create({
      command: ['true'],
    });
    await eventually(
      async () =>
        (await client.workflow.getHandle(clusterWorkflowId(finished.number)).describe()).status.name === 'COMPLETED',
    );

    // Stopped agents never receive their job's end: only the sweep can end them.
    const frozenPids = frozen.ids.map(pidOf);
    for (const pid of frozenPids) process.kill(pid, 'SIGSTOP');
    for (const id of [jobWorkflowId(frozen.number), clusterWorkflowId(frozen.number)]) {
      await client.workflow.getHandle(id).terminate('planted orphan');
    }
    // No sweep runs until every instance is planted.
    const schedule = client.schedule.getHandle(sweepScheduleId(`local/${own.hostId}`));
    await schedule.pause('this test plants');
    const planted = {
      closed: await plant(finished.number),
      unheardOf: await plant(987_654),
      foreign: await plant(987_654, 'dep_other'),
      young: await plant(987_655),
      claimed: await plant(owned.number),
    };
    for (const id of planted.young) await rejuvenate(id);

    const orphans = [...frozenPids, ...[...planted.closed, ...planted.unheardOf].map(pidOf)];
    const others = [...owned.ids, ...planted.foreign, ...planted.young, ...planted.claimed].map(pidOf);
    expect([orphans.length, others.length, new Set([...orphans, ...others]).has(0)]).toEqual([6, 8, false]);
    await schedule.unpause('all is planted');
    await eventually(() => orphans.every((pid) => !isAlive(pid)));
    expect(others.filter((pid) => !isAlive(pid))).toEqual([]);

    // Not by timing: several more sweeps see them and leave them.
    const taken = await sweepsTaken();
    await eventually(async () => (await sweepsTaken()) >= taken + 4);
    expect(others.filter((pid) => !isAlive(pid))).toEqual([]);

    const { code, stdout } = await runCli(['sweep', '--dry-run', '--format', 'json'], {
      env: { ROPEWALK_HOME: stack.home },
    });
    const verdicts = new Map(
      reports.parse(JSON.parse(stdout)).flatMap(({ verdicts }) => verdicts.map(({ id, verdict }) => [id, verdict])),
    );
    expect(code).toBe(0);
    const verdictsFor = (ids: string[]): (string | undefined)[] => ids.map((id) => verdicts.get(id));
    expect(verdictsFor(owned.ids)).toEqual(['owned', 'owned']);
    expect(verdictsFor(planted.claimed)).toEqual(['owned', 'owned']);
    expect(verdictsFor(planted.young)).toEqual(['young', 'young']);
    // Another deployment's are not even listed.
    expect(verdictsFor(planted.foreign)).toEqual([undefined, undefined]);
    expect(verdictsFor(planted.closed)).toEqual([undefined, undefined]);
  });

  it('touches nothing when the namespace belongs to another deployment', async () => {
    const input: SweepInput = {
      ...{ deploymentId: 'dep_other', provider: 'local', providerQueue: `local/${own.hostId}` },
      ...{ graceMs: 0, dryRun: false },
    };
    const [first = ''] = await plant(987_656, 'dep_other');
    for (let run = 0; run < 3; run++) {
      const report: SweepReport = await client.workflow.execute(sweepType, {
        workflowId: `test-sweep-${run}`,
        taskQueue: controlQueue,
        args: [input],
      });
      expect(report.refusal).toContain(`belongs to deployment ${own.deploymentId}, not to dep_other`);
      expect(report.terminated).toEqual([]);
    }
    expect(isAlive(pidOf(first))).toBe(true);
  });

  it('runs when an operator asks, and says what it will do and has done', async () => {
    const env = { ROPEWALK_HOME: stack.home };
    await client.schedule.getHandle(sweepScheduleId(`local/${own.hostId}`)).pause('this test sweeps by hand');
    const ids = await plant(987_657);
    const pids = ids.map(pidOf);
    await eventually(async () => {
      const { stdout } = await runCli(['sweep'], { env });
      expect(stdout).toMatch(new RegExp(`${ids[0]}  default 987657  suspected: cluster/987657 is not found`));
      return true;
    });
    expect(pids.every(isAlive)).toBe(true);
    await eventually(async () => (await runCli(['sweep', '--dry-run'], { env })).stdout.includes('would be ended'));
    expect(pids.every(isAlive)).toBe(true);
    const { code, stdout } = await runCli(['sweep'], { env });
    expect([code, stdout.match(/ended: cluster\/987657/g)?.length]).toEqual([0, 2]);
    expect(pids.some(isAlive)).toBe(false);
  });

  /** Keeps its launch time current for as long as the test takes. */
  async function rejuvenate(id: string): Promise<void> {
    const path = join(stack.home, 'instances', id, 'owner.json');
    const tags = z.record(z.string(), z.unknown()).parse(JSON.parse(await readFile(path, 'utf8')));
    await writeFile(path, JSON.stringify({ ...tags, launchedAtMs: Date.now() + 3_600_000 }));
  }
});

const reports = z.array(z.object({ verdicts: z.array(z.object({ id: z.string(), verdict: z.string() })) }));
