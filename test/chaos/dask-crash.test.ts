// SIGKILL of the Temporal worker, the API, the Temporal server, the agent of a worker and the agent of the scheduler's instance,
// while a Dask cluster starts, scales out and drains. After any kill the cluster reaches its target or ends with a named reason,
// no process remains, and no result of a drained worker is lost.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import type { Client, Cluster } from '../../sdk/client.ts';
import { connectDask, daskPython, makeDaskHome } from '../support/dask.ts';
import type { DaskClient } from '../support/dask.ts';
import { eventually } from '../support/eventually.ts';
import { processesOfHome } from '../support/home-processes.ts';
import { agentPids, isAlive } from '../support/kills.ts';
import { removeHome, startStack } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';

const targets = ['worker', 'api', 'temporal', 'agent of a worker', 'agent of the head'];
const endings = ['SCHEDULER_LOST', 'START_FAILED'];

describe('kill -9 under a Dask cluster', () => {
  let home: string;
  let stack: TestStack;
  let client: Client;
  beforeAll(async () => {
    home = await makeDaskHome();
    stack = await startStack({ home });
    client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
  });
  afterAll(async () => {
    await stack.stop();
    await removeHome(home);
  });

  it.each(targets)('while it starts: %s', async (target) => {
    const { number } = await create(client);
    await eventually(async () => (await client.clusters.get(number)).instances.length === 3);
    const killed = await kill(stack, client, number, target);
    const after = await settled(client, number, 2);
    expect(after.launched).toBeGreaterThanOrEqual(3);
    await end(stack, client, number, killed);
  });

  it.each(targets)('while it scales up: %s', async (target) => {
    const { number } = await create(client);
    await settled(client, number, 2);
    await client.clusters.scale(number, 3);
    const killed = await kill(stack, client, number, target);
    const after = await settled(client, number, 3);
    expect(after.endedAt === null ? after.dask?.workersWanted : 3).toBe(3);
    await end(stack, client, number, killed);
  });

  it.each(targets)('while it drains: %s', async (target) => {
    const { number } = await create(client);
    const cluster = await settled(client, number, 2);
    const workers = cluster.instances.flatMap(({ role, process }) =>
      role === 'worker' && process !== null ? [process.name] : [],
    );
    let dask: DaskClient | null = null;
    try {
      dask = await connectDask(client, number, daskPython(home));
      await dask.ask({ op: 'hold', workers });
      await client.clusters.scale(number, 1);
      const killed = await kill(stack, client, number, target);
      const after = await settled(client, number, 1);
      // A killed agent ends its worker with it, which loses the worker's results: a loss, not a drain.
      if (after.endedAt === null && !target.startsWith('agent')) {
        const { results } = await dask.ask({ op: 'gather' });
        expect(results).toEqual(Object.fromEntries(workers.map((name) => [`held-${name}`, `held by ${name}`])));
        const { computed } = await dask.ask({ op: 'computed' });
        expect(computed).toMatchObject(Object.fromEntries(workers.map((name) => [`held-${name}`, 1])));
      }
      await dask.close();
      await end(stack, client, number, killed);
    } finally {
      await dask?.close();
    }
  });
});

async function create(client: Client): Promise<{ number: number }> {
  // Agents report every second: a killed agent is missed after three seconds.
  return client.clusters.create({ workers: 2, lease: 3, drainTimeout: '20 seconds' });
}

/** Waits until the cluster reaches its target, or ends with a reason that such a kill permits. */
async function settled(client: Client, number: number, workers: number): Promise<Cluster> {
  return eventually(
    async () => {
      const cluster = await client.clusters.get(number);
      if (cluster.staleSince !== null) return null;
      if (cluster.endedAt !== null) {
        if (!endings.includes(cluster.reason?.code ?? '')) throw new Error(JSON.stringify(cluster.reason));
        return cluster;
      }
      const { dask, status, instances } = cluster;
      return status === 'ready' && dask?.workersStarted === workers && instances.length === workers + 1
        ? cluster
        : null;
    },
    { timeoutMs: 120_000, intervalMs: 100 },
  );
}

async function kill(stack: TestStack, client: Client, number: number, target: string): Promise<number> {
  const pid = await eventually(async () => {
    if (!target.startsWith('agent')) return (await stack.childPids())[target] ?? null;
    const role = target.endsWith('head') ? 'head' : 'worker';
    const { instances } = await client.clusters.get(number);
    const ids = instances.filter((instance) => instance.role === role).map((instance) => instance.id);
    return ids.map((id) => agentPids(stack.home).get(id)).find((agent) => agent !== undefined) ?? null;
  });
  process.kill(pid, 'SIGKILL');
  await eventually(() => !isAlive(pid));
  console.log(`killed ${target} ${pid} at ${new Date().toISOString()}, cluster ${number}`);
  return pid;
}

async function end(stack: TestStack, client: Client, number: number, killed: number): Promise<void> {
  expect(isAlive(killed)).toBe(false);
  await client.clusters.stop(number);
  await eventually(async () => (await client.clusters.get(number)).endedAt !== null, { timeoutMs: 60_000 });
  // The stack's own processes remain; no process of an instance does.
  await eventually(async () => agentPids(stack.home).size === 0);
  const own = new Set(Object.values(await stack.childPids()));
  const left = (await processesOfHome(stack.home)).filter(({ pid }) => pid !== stack.dev.pid && !own.has(pid));
  expect(left).toEqual([]);
}
