// The API's past states of a cluster and a job equal the live reads at those moments.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, it } from 'vitest';

import type { Cluster, ClusterAt } from '../../sdk/client.ts';
import { clusterEnded, clusterReady } from '../support/cluster-waits.ts';
import { eventually } from '../support/eventually.ts';
import { sharedStack } from '../support/shared-stack.ts';

const out = mkdtempSync(join(tmpdir(), 'ropewalk-history-'));
afterAll(() => rmSync(out, { recursive: true, force: true }));

/** The common fields of a cluster and a past one. */
const common = ({ number, name, status, reason, target, events }: Cluster | ClusterAt) => ({
  ...{ number, name, status, reason, target, events },
});
const live = (cluster: Cluster) => ({
  ...common(cluster),
  workersStarted: cluster.dask?.workersStarted,
  instances: cluster.instances.map(({ id, role, type, market, state, process, stages = [] }) => ({
    ...{ id, role, type, market, state, process: process?.state ?? null, stages },
  })),
});
const past = (at: ClusterAt) => ({
  ...common(at),
  workersStarted: at.workersStarted,
  instances: at.instances.map(({ id, role, type, market, state, process, stages }) => ({
    ...{ id, role, type, market, state, process, stages },
  })),
});

it('a cluster that has ended says what it was at each moment', async () => {
  const { client } = await sharedStack();
  const { number } = await client.clusters.create({ workers: 1 });
  const narrow = await clusterReady(client, number, 1);
  const narrowAt = new Date();
  await client.clusters.scale(number, 2);
  const wide = await clusterReady(client, number, 2);
  const wideAt = new Date();
  // For an open cluster, changes that its workflow has not written yet count too.
  expect(past(await client.clusters.at(number, narrowAt))).toEqual(live(narrow));
  await client.clusters.stop(number);
  const ended = await clusterEnded(client, number);
  expect(past(await client.clusters.at(number, narrowAt))).toEqual(live(narrow));
  expect(past(await client.clusters.at(number, wideAt))).toEqual(live(wide));
  const start = await client.clusters.at(number, ended.createdAt);
  expect(start).toMatchObject({ status: 'pending', instances: [], dollars: 0, workersStarted: 0 });
  const end = await client.clusters.at(number, ended.endedAt ?? '');
  expect(end).toMatchObject({ status: 'stopped', instances: [], reason: ended.reason, dollarsPerHour: 0 });
  await expect(client.clusters.at(number, '2001-01-01T00:00:00Z')).rejects.toMatchObject({ code: 'VALIDATION' });
});

it('a job that has ended says which of its tasks had ended, ran and waited', async () => {
  const { client } = await sharedStack();
  const go = join(out, 'go');
  const wait = `[ $ROPEWALK_BATCH_TASK_ID -lt 2 ] || until [ -e ${go} ]; do sleep 0.2; done`;
  const { number } = await client.jobs.create({ command: ['sh', '-c', wait], ntasks: 5, maxWorkers: 1 });
  await eventually(async () => {
    const { tasks } = await client.jobs.get(number);
    return tasks.done === 2 && tasks.running === 1;
  });
  const { tasks, status } = await client.jobs.get(number);
  const { instances } = await client.clusters.get(number);
  const middle = new Date();
  writeFileSync(go, '');
  const ended = await client.jobs.wait(number);
  const { assigned, pending, ...counts } = tasks;
  expect(await client.jobs.at(number, middle)).toMatchObject({
    ...{ status, tasks: { ...counts, pending: pending + assigned } },
    instances: instances.map(({ id, state }) => ({ id, state })),
  });
  expect(await client.jobs.at(number, ended.submittedAt)).toMatchObject({ status: 'pending', tasks: { pending: 5 } });
  expect((await client.jobs.at(number, ended.endedAt ?? '')).tasks).toMatchObject({ done: 5, running: 0, pending: 0 });
});
