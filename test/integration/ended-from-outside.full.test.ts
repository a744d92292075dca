// An operator terminates workflows in Temporal, on a real server: they cannot clean up. The reconciliation does: afterwards
// nothing runs any more, names and quota are free, and the API returns how each ended.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { Client as TemporalClient, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import { clusterWorkflowId } from '../../contracts/cluster.ts';
import { jobWorkflowId } from '../../contracts/job.ts';
import { controlQueue } from '../../contracts/flush.ts';
import { reconcileType, type ReconcileInput, type ReconcileReport } from '../../contracts/reconcile.ts';
import { makeDaskHome } from '../support/dask.ts';
import { eventually } from '../support/eventually.ts';
import { agentPids } from '../support/kills.ts';
import { removeHome, startStack } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';

describe('workflows that are terminated from outside', () => {
  let home: string;
  let stack: TestStack;
  let client: Client;
  let connection: Connection;
  let temporal: TemporalClient;
  let deploymentId: string;
  beforeAll(async () => {
    home = await makeDaskHome();
    stack = await startStack({ home });
    client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    connection = await Connection.connect({ address: stack.temporalAddress });
    temporal = new TemporalClient({ connection, namespace: stack.namespace });
    ({ deploymentId } = JSON.parse(await readFile(join(home, 'host.json'), 'utf8')));
  });
  afterAll(async () => {
    await connection.close();
    await stack.stop();
    await removeHome(home);
  });

  const running = async (): Promise<number> => (await client.workspaces.current()).use.running;
  let runs = 0;
  const reconcile = (graceMs: number): Promise<ReconcileReport> =>
    temporal.workflow.execute<(input: ReconcileInput) => Promise<ReconcileReport>>(reconcileType, {
      workflowId: `test-reconcile-${++runs}`,
      taskQueue: controlQueue,
      args: [{ deploymentId, graceMs, dryRun: false }],
    });
  const agentsOf = async (number: number): Promise<string[]> =>
    (await client.clusters.get(number)).instances.map(({ id }) => id);
  const agentsLeft = (ids: string[]): string[] => ids.filter((id) => agentPids(home).has(id));

  it('leave no process, no name and no limit taken, and an ending that people can read', async () => {
    const sleeping = { command: ['sleep', '600'], ntasks: 2, maxWorkers: 1 };
    const [jobless, clusterless, healthy, dask] = await Promise.all([
      client.jobs.create({ ...sleeping, name: 'jobless' }),
      client.jobs.create({ ...sleeping, name: 'clusterless' }),
      client.jobs.create({ ...sleeping, name: 'healthy' }),
      client.clusters.create({ name: 'dask', workers: 1 }),
    ]);
    for (const { number } of [jobless, clusterless, healthy]) {
      await eventually(async () => (await client.jobs.get(number)).tasks.running === 1);
    }
    await eventually(async () => (await client.clusters.get(dask.number)).status === 'ready', { timeoutMs: 90_000 });
    const agents = await Promise.all([jobless, clusterless, dask].map(({ number }) => agentsOf(number)));
    expect(agentsLeft(agents.flat())).toHaveLength(4);

    const terminate = (id: string) => temporal.workflow.getHandle(id).terminate('an operator');
    await terminate(jobWorkflowId(jobless.number));
    await terminate(clusterWorkflowId(clusterless.number));
    await terminate(clusterWorkflowId(dask.number));
    // Its own agents call it, and get the order to stop at once.
    await eventually(() => agentsLeft(agents[0] ?? []).length === 0);
    // A workflow that was missing once has no consequence yet.
    expect((await reconcile(60_000)).finalized).toEqual([]);
    expect(await running()).toBe(4);

    // A job that is cancelled releases its limits before the row of its terminated cluster is finalized, in the run after that.
    const open = async (): Promise<Set<number>> => {
      const numbers = new Set<number>();
      for (const list of [client.jobs.list({ open: true }), client.clusters.list({ open: true })]) {
        for await (const { number } of list) numbers.add(number);
      }
      return numbers;
    };
    await eventually(async () => (await reconcile(1), isDeepStrictEqual(await open(), new Set([healthy.number]))), {
      ...{ timeoutMs: 120_000, intervalMs: 200 },
    });
    expect(await running()).toBe(1);
    expect(agentsLeft(agents.flat())).toEqual([]);

    const ended = await client.jobs.get(jobless.number);
    expect(ended).toMatchObject({ status: 'error', reason: { code: 'ENDED_FROM_OUTSIDE' } });
    expect(ended.reason?.text).toContain('TERMINATED');
    expect(ended.tasks).toMatchObject({ total: 2, running: 0, assigned: 0, pending: 0, cancelled: 2 });
    expect(await client.clusters.get(jobless.number)).toMatchObject({ reason: { code: 'JOB_GONE' } });
    expect(await client.jobs.get(clusterless.number)).toMatchObject({
      status: 'error',
      reason: { code: 'CLUSTER_GONE' },
    });
    for (const { number } of [clusterless, dask]) {
      const cluster = await client.clusters.get(number);
      expect(cluster).toMatchObject({ status: 'error', instances: [], reason: { code: 'ENDED_FROM_OUTSIDE' } });
    }
    // The untouched job continues, and the names are free.
    expect((await client.jobs.get(healthy.number)).tasks.running).toBe(1);
    for (const name of ['jobless', 'clusterless', 'dask']) {
      const { number } = await client.jobs.create({ command: ['true'], name });
      expect((await client.jobs.wait(number)).status).toBe('done');
    }
    await client.jobs.cancel(healthy.number);
    await eventually(async () => (await running()) === 0);
  });
});
