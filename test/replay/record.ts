// Records test/replay/histories from a real stack: run it (`npm run histories`, or with the names of groups: `jobs`, `dask`,
// `ec2`, `upkeep`, `schedule`) after a deliberate change of workflow code, review the changes, and commit both. The scenarios
// include every activity and signal of the product.
import type { Client as TemporalClient } from '@temporalio/client';

import { createClient } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import { eventually } from '../support/eventually.ts';
import { agentPids } from '../support/kills.ts';
import { startStack } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';
import { connectTemporal, saveHistory } from './history-files.ts';
import { recordDask } from './record-dask.ts';
import { recordEc2 } from './record-ec2.ts';
import { recordSchedule } from './record-schedule.ts';
import { recordUpkeep } from './record-upkeep.ts';

async function main(asked: string[]): Promise<void> {
  const groups: Record<string, () => Promise<void>> = {
    jobs: recordJobs,
    dask: recordDask,
    ec2: recordEc2,
    upkeep: recordUpkeep,
    schedule: recordSchedule,
  };
  for (const name of asked.length === 0 ? Object.keys(groups) : asked) {
    const record = groups[name];
    if (record === undefined) throw new Error(`no group ${name}: ${Object.keys(groups).join(', ')}`);
    await record();
  }
}

async function recordJobs(): Promise<void> {
  const stack = await startStack({
    overrides: { temporal: { dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': 40 } } },
  });
  try {
    const { server, close } = await connectTemporal(stack);
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });

    const lossy = await loseAnInstance(client, stack);
    await saveHistory(server, `job/${lossy}`, 'job-loses-an-instance');
    // Its last run, which launches the replacement: histories are kept short here.
    await saveHistory(server, `cluster/${lossy}`, 'cluster-replaces-an-instance');

    const cancelled = await cancelMidway(client);
    await saveHistory(server, `job/${cancelled}`, 'job-cancelled');
    await saveHistory(server, `cluster/${cancelled}`, 'cluster-stopped');

    const long = await continueAsNew(client);
    await saveRuns(server, `job/${long}`, 'job-continued');

    await close();
  } finally {
    await stack.stop();
  }
}

/** One instance is killed while it works, and one task fails once and is retried. */
async function loseAnInstance(client: Client, stack: TestStack): Promise<number> {
  const { number } = await client.jobs.create({
    command: ['bash', '-c', 'sleep 1; [ "$ROPEWALK_BATCH_TASK_ID-$ROPEWALK_TASK_ATTEMPT" != 2-1 ]'],
    ntasks: 8,
    maxWorkers: 2,
    retries: 1,
    lease: 1,
  });
  await eventually(async () => (await client.jobs.get(number)).tasks.running === 2);
  const [pid] = agentPids(stack.home).values();
  if (pid === undefined) throw new Error('no agent is running');
  process.kill(pid, 'SIGKILL');
  await over(client, number);
  return number;
}

async function cancelMidway(client: Client): Promise<number> {
  const { number } = await client.jobs.create({ command: ['sleep', '60'], ntasks: 4, maxWorkers: 2 });
  await eventually(async () => (await client.jobs.get(number)).tasks.running > 0);
  await client.jobs.cancel(number);
  await over(client, number);
  return number;
}

async function continueAsNew(client: Client): Promise<number> {
  const { number } = await client.jobs.create({ command: ['sleep', '0.5'], ntasks: 60, maxWorkers: 2 });
  await over(client, number);
  return number;
}

async function over(client: Client, number: number): Promise<void> {
  await client.jobs.wait(number);
  await eventually(async () => (await client.clusters.get(number)).status === 'stopped');
}

/** The first run, which ends by continuing as new, and the last, which begins with carried state. */
async function saveRuns(server: TemporalClient, workflowId: string, name: string): Promise<void> {
  const runs = await runsOf(server, workflowId, 2);
  await saveHistory(server, workflowId, `${name}-first-run`, runs.at(0)?.runId);
  await saveHistory(server, workflowId, `${name}-last-run`, runs.at(-1)?.runId);
}

/** Oldest first, once visibility shows this many. */
function runsOf(server: TemporalClient, workflowId: string, atLeast: number) {
  return eventually(async () => {
    const found: { runId: string; startTime: Date }[] = [];
    for await (const run of server.workflow.list({ query: `WorkflowId = '${workflowId}'` })) found.push(run);
    return found.length >= atLeast
      ? found.toSorted((one, other) => one.startTime.getTime() - other.startTime.getTime())
      : null;
  });
}

await main(process.argv.slice(2));
