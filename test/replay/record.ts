// Records test/replay/histories from a real stack: run it (`npm run histories`) after a deliberate change of workflow code,
// look at what changed, and commit both. Scenarios are chosen so that every activity and signal of ours is in a history.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client as TemporalClient, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';

import { createClient } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import { eventually } from '../support/eventually.ts';
import { agentPids } from '../support/kills.ts';
import { startStack } from '../support/stack.ts';

const histories = join(import.meta.dirname, 'histories');

const out = mkdtempSync(join(tmpdir(), 'ropewalk-histories-'));
const stack = await startStack({
  overrides: { temporal: { dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': 120 } } },
});
try {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const server = new TemporalClient({ connection, namespace: stack.namespace });
  const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
  rmSync(histories, { recursive: true, force: true });
  mkdirSync(histories, { recursive: true });

  const lossy = await loseAnInstance(client);
  await save(server, `job/${lossy}`, 'job-loses-an-instance');
  await save(server, `cluster/${lossy}`, 'cluster-replaces-an-instance');

  const cancelled = await cancelMidway(client);
  await save(server, `job/${cancelled}`, 'job-cancelled');
  await save(server, `cluster/${cancelled}`, 'cluster-stopped');

  const long = await continueAsNew(client);
  await saveRuns(server, `job/${long}`, 'job-continued');

  await save(server, 'workspace/default', 'workspace');
  await save(server, 'deployment', 'deployment');
  await connection.close();
} finally {
  await stack.stop();
  rmSync(out, { recursive: true, force: true });
}

/** One instance is killed while it works, and one task fails once and is tried again. */
async function loseAnInstance(client: Client): Promise<number> {
  const { number } = await client.jobs.create({
    command: ['bash', '-c', 'sleep 1; [ "$ROPEWALK_BATCH_TASK_ID-$ROPEWALK_TASK_ATTEMPT" != 2-1 ]'],
    ntasks: 8,
    maxWorkers: 2,
    retries: 1,
    lease: 1,
  });
  await eventually(async () => (await client.jobs.get(number)).tasks.running === 2, { timeoutMs: 30_000 });
  const [pid] = agentPids(stack.home).values();
  if (pid === undefined) throw new Error('no agent is running');
  process.kill(pid, 'SIGKILL');
  await over(client, number);
  return number;
}

async function cancelMidway(client: Client): Promise<number> {
  const { number } = await client.jobs.create({ command: ['sleep', '60'], ntasks: 4, maxWorkers: 2 });
  await eventually(async () => (await client.jobs.get(number)).tasks.running > 0, { timeoutMs: 30_000 });
  await client.jobs.cancel(number);
  await over(client, number);
  return number;
}

async function continueAsNew(client: Client): Promise<number> {
  const { number } = await client.jobs.create({ command: ['true'], ntasks: 120, maxWorkers: 2 });
  await over(client, number);
  return number;
}

async function over(client: Client, number: number): Promise<void> {
  await client.jobs.wait(number);
  await eventually(async () => (await client.clusters.get(number)).status === 'stopped', { timeoutMs: 30_000 });
}

async function save(server: TemporalClient, workflowId: string, name: string, runId?: string): Promise<void> {
  const history = await server.workflow.getHandle(workflowId, runId).fetchHistory();
  const bytes = proto.temporal.api.history.v1.History.encode(history).finish();
  writeFileSync(join(histories, `${name}.bin`), bytes);
  console.log(`${name}: ${history.events?.length ?? 0} events, ${bytes.length} bytes`);
}

/** The first run, which ends by continuing as new, and the last, which begins with carried state. */
async function saveRuns(server: TemporalClient, workflowId: string, name: string): Promise<void> {
  const runs = await eventually(async () => {
    const found: { runId: string; startTime: Date }[] = [];
    for await (const run of server.workflow.list({ query: `WorkflowId = '${workflowId}'` })) found.push(run);
    return found.length > 1 ? found.toSorted((a, b) => a.startTime.getTime() - b.startTime.getTime()) : null;
  });
  await save(server, workflowId, `${name}-first-run`, runs.at(0)?.runId);
  await save(server, workflowId, `${name}-last-run`, runs.at(-1)?.runId);
}
