// The life of a Dask cluster on the shared stack: real scheduler and workers over mutual TLS, driven by a real client.
import { beforeAll, describe, expect, it } from 'vitest';

import type { Client, Cluster } from '../../sdk/client.ts';
import { clusterEnded, clusterReady } from '../support/cluster-waits.ts';
import { connectDask, daskPython } from '../support/dask.ts';
import { eventually } from '../support/eventually.ts';
import { processesOfHome } from '../support/home-processes.ts';
import { sharedStack } from '../support/shared-stack.ts';
import type { SharedStack } from '../support/shared-stack.ts';

describe('a Dask cluster', () => {
  let stack: SharedStack;
  let home: string;
  let client: Client;
  beforeAll(async () => {
    stack = await sharedStack();
    ({ home, client } = stack);
  });

  const ready = (number: number, workers: number): Promise<Cluster> => clusterReady(client, number, workers);
  const over = (number: number): Promise<Cluster> => clusterEnded(client, number);

  it.concurrent('computes, keeps its name, and leaves nothing when it is stopped', async () => {
    const created = await client.clusters.create({ name: 'first', workers: 2, env: { GREETING: 'ahoy' } });
    const cluster = await ready(created.number, 2);
    expect(cluster.dask?.schedulerAddress).toMatch(/^tls:\/\/127\.0\.0\.1:\d+$/);
    const again = await client.clusters.create({ name: 'first', workers: 2 });
    expect(again).toMatchObject({ number: created.number, existing: true });

    const dask = await connectDask(client, created.number, daskPython(home));
    try {
      expect(dask.hello.workers).toBe(2);
      expect(await dask.ask({ op: 'sum', n: 100 })).toEqual({ sum: 328_350 });
      const { environ } = await dask.ask({ op: 'environ', name: 'GREETING' });
      expect(Object.values(Object(environ))).toEqual(['ahoy', 'ahoy']);
      await eventually(async () => (await client.clusters.get(created.number)).dask?.clients === 1);
    } finally {
      await dask.close();
    }
    await eventually(async () => (await client.clusters.get(created.number)).dask?.clients === 0);
    await client.clusters.stop(created.number);
    const ended = await over(created.number);
    expect(ended.status).toBe('stopped');
    expect(stack.livingAgents(cluster.instances.map(({ id }) => id))).toEqual([]);
    const next = await client.clusters.create({ name: 'first', workers: 0 });
    expect(next.number).not.toBe(created.number);
    await client.clusters.stop(next.number);
    await over(next.number);
  });

  it.concurrent('ends by itself when nothing is computed, and when no client is there', async () => {
    const idle = await client.clusters.create({ workers: 1, idleTimeout: '4 seconds' });
    const lonely = await client.clusters.create({ workers: 1, noClientTimeout: '4 seconds' });
    expect((await over(idle.number)).reason?.code).toBe('IDLE');
    expect((await over(lonely.number)).reason?.code).toBe('NO_CLIENT');
  });

  it.concurrent('says why when it cannot start, with the requirement by name', async () => {
    const { number } = await client.clusters.create({
      workers: 1,
      software: { requirements: ['no-such-package-of-ropewalk==1.0'] },
    });
    const failed = await over(number);
    expect(failed.status).toBe('error');
    expect(failed.reason?.code).toBe('START_FAILED');
    expect(JSON.stringify(failed)).toContain('no-such-package-of-ropewalk');
  });

  it.concurrent('reports that its scheduler runs and does not answer, and then ends', async () => {
    const { number } = await client.clusters.create({ workers: 0, unresponsiveTimeout: '6 seconds' });
    const [head] = (await ready(number, 0)).instances;
    const schedulers = async () =>
      (await processesOfHome(home)).filter(
        ({ command, instance }) => instance === head?.id && command.includes('dask scheduler'),
      );
    const [scheduler] = await schedulers();
    if (scheduler === undefined) throw new Error('no scheduler runs');
    process.kill(scheduler.pid, 'SIGSTOP');
    const ended = await over(number);
    expect(ended).toMatchObject({ status: 'error', reason: { code: 'SCHEDULER_UNRESPONSIVE' } });
    const codes = ended.events.map(({ code }) => code);
    // Once after a tenth of the unresponsive time, and once as the reason.
    expect(codes.filter((code) => code === 'SCHEDULER_UNRESPONSIVE')).toHaveLength(2);
    expect(await schedulers()).toEqual([]);
  });

  it.concurrent('follows the adaptive target of Dask between two bounds', async () => {
    const { number } = await client.clusters.create({ workers: 0 });
    await ready(number, 0);
    await client.clusters.adapt(number, { minimum: 1, maximum: 2 });
    const cluster = await ready(number, 1);
    expect(cluster.dask?.adaptive).toMatchObject({ minimum: 1, maximum: 2 });
    await client.clusters.stop(number);
    await over(number);
  });
});
