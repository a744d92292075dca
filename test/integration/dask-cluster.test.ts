// The life of a Dask cluster on the shared stack: real scheduler and workers over mutual TLS, driven by a real client.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Client, Cluster } from '../../sdk/client.ts';
import { connectDask, daskPython } from '../support/dask.ts';
import type { DaskClient } from '../support/dask.ts';
import { eventually } from '../support/eventually.ts';
import { processesOfHome } from '../support/home-processes.ts';
import { sharedStack } from '../support/shared-stack.ts';
import type { SharedStack } from '../support/shared-stack.ts';

describe('a Dask cluster', () => {
  const out = mkdtempSync(join(tmpdir(), 'ropewalk-dask-'));
  let stack: SharedStack;
  let home: string;
  let client: Client;
  beforeAll(async () => {
    stack = await sharedStack();
    ({ home, client } = stack);
  });
  afterAll(() => rmSync(out, { recursive: true, force: true }));

  const ready = (number: number, workers: number): Promise<Cluster> =>
    eventually(
      async () => {
        const cluster = await client.clusters.get(number);
        if (cluster.status === 'error' || cluster.status === 'stopped') throw new Error(JSON.stringify(cluster.reason));
        return cluster.status === 'ready' && cluster.dask?.workersStarted === workers ? cluster : null;
      },
      { timeoutMs: 90_000, intervalMs: 100 },
    );
  const over = (number: number): Promise<Cluster> =>
    eventually(
      async () => {
        const cluster = await client.clusters.get(number);
        return cluster.endedAt === null ? null : cluster;
      },
      { timeoutMs: 60_000, intervalMs: 100 },
    );
  const names = (cluster: Cluster): string[] =>
    cluster.instances.flatMap(({ role, process }) => (role === 'worker' && process !== null ? [process.name] : []));

  it('computes, keeps its name, and leaves nothing when it is stopped', async () => {
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

  it('scales up, and drains on the way down: what runs finishes, what is held moves, nothing is computed twice', async () => {
    const { number } = await client.clusters.create({ workers: 1 });
    await ready(number, 1);
    await client.clusters.scale(number, 3);
    const wide = await ready(number, 3);
    let dask: DaskClient | null = null;
    try {
      dask = await connectDask(client, number, daskPython(home));
      const workers = names(wide);
      await dask.ask({ op: 'hold', workers });
      // Each in turn may be the one that stays, so the slow task goes to one that is sure to have company.
      const begun = join(out, 'begun');
      await dask.ask({ op: 'slow', path: begun, seconds: 6, worker: workers[1] });
      await eventually(() => existsSync(begun));
      const taken = async () => (await client.workspaces.current()).use.instances;
      expect(await taken()).toBe(4);
      await client.clusters.scale(number, 1);
      await ready(number, 1);
      await eventually(async () => (await client.clusters.get(number)).instances.length === 2);
      // Its share of the limits follows its instances.
      await eventually(async () => (await taken()) === 2);
      const { results } = await dask.ask({ op: 'gather' });
      expect(results).toEqual({
        slow: 'finished',
        ...Object.fromEntries(workers.map((name) => [`held-${name}`, `held by ${name}`])),
      });
      expect(readFileSync(begun, 'utf8')).toBe('begun\n');
      const { computed } = await dask.ask({ op: 'computed' });
      expect(computed).toMatchObject({ slow: 1, ...Object.fromEntries(workers.map((name) => [`held-${name}`, 1])) });
    } finally {
      await dask?.close();
    }
    await client.clusters.stop(number);
    await over(number);
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

  it.concurrent('says that its scheduler is there and does not answer, and then ends', async () => {
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
    // Once when it had not answered for a tenth of the time, and once as the reason.
    expect(codes.filter((code) => code === 'SCHEDULER_UNRESPONSIVE')).toHaveLength(2);
    expect(await schedulers()).toEqual([]);
  });

  it.concurrent('follows the wish of Dask between two counts', async () => {
    const { number } = await client.clusters.create({ workers: 0 });
    await ready(number, 0);
    await client.clusters.adapt(number, { minimum: 1, maximum: 2 });
    const cluster = await ready(number, 1);
    expect(cluster.dask?.adaptive).toEqual({ minimum: 1, maximum: 2 });
    await client.clusters.stop(number);
    await over(number);
  });
});
