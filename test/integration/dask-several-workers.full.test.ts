// Several Dask workers on each instance, and one beside the scheduler: on the shared stack, with a real scheduler and client.
import { isDeepStrictEqual } from 'node:util';

import { afterAll, expect, it } from 'vitest';

import { clusterEnded, clusterReady } from '../support/cluster-waits.ts';
import { connectDask, daskPython } from '../support/dask.ts';
import type { DaskClient } from '../support/dask.ts';
import { eventually } from '../support/eventually.ts';
import { sharedStack } from '../support/shared-stack.ts';

type Workers = Record<string, { nthreads: number; memoryLimit: number }>;

const opened: DaskClient[] = [];
afterAll(() => Promise.all(opened.map((each) => each.close())));

const workersOf = async (dask: DaskClient): Promise<Workers> =>
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- dask_client.py is beside it
  (await dask.ask({ op: 'workers' }))['workers'] as Workers;

const namesOf = async (dask: DaskClient): Promise<string[]> => Object.keys(await workersOf(dask)).toSorted();

it.each([
  ['by the command line of dask', {}],
  ['by a specification', { workerOptions: { resources: { slots: 1 } } }],
])('instances run two workers each, and the scheduler`s one more, which stays: %s', async (_, options) => {
  const { client, home } = await sharedStack();
  const asked = { workers: 1, workersPerInstance: 2, extraWorkerOnScheduler: true, ...options };
  const { number, name } = await client.clusters.create(asked);
  const cluster = await clusterReady(client, number, 1);
  const [base = ''] = cluster.instances.flatMap(({ role, process }) =>
    role === 'worker' ? [process?.name ?? ''] : [],
  );
  const dask = await connectDask(client, number, daskPython(home));
  opened.push(dask);
  const extra = `${name}-scheduler-worker`;
  const three = [extra, `${base}-0`, `${base}-1`].toSorted();
  await eventually(async () => isDeepStrictEqual(await namesOf(dask), three));
  const workers = await workersOf(dask);
  const [first, second] = [workers[`${base}-0`], workers[`${base}-1`]];
  expect(first).toEqual(second);
  // On one machine all three share its memory.
  const limits = Object.values(workers).map(({ memoryLimit }) => memoryLimit);
  expect(Math.max(...limits) / Math.min(...limits)).toBeLessThan(1.01);
  expect(await dask.ask({ op: 'sum', n: 100 })).toEqual({ sum: 328_350 });

  await client.clusters.scale(number, 2);
  await clusterReady(client, number, 2);
  await eventually(async () => (await namesOf(dask)).length === 5);
  // Both workers of an instance are emptied before it ends.
  await dask.ask({ op: 'hold', workers: [`${base}-0`, `${base}-1`] });
  await client.clusters.scale(number, 0);
  await eventually(async () => (await client.clusters.get(number)).instances.length === 1);
  expect(await namesOf(dask)).toEqual([extra]);
  expect((await dask.ask({ op: 'gather' }))['results']).toEqual({
    [`held-${base}-0`]: `held by ${base}-0`,
    [`held-${base}-1`]: `held by ${base}-1`,
  });
  expect((await dask.ask({ op: 'computed' }))['computed']).toMatchObject({
    [`held-${base}-0`]: 1,
    [`held-${base}-1`]: 1,
  });
  expect((await client.clusters.get(number)).dask).toMatchObject({ workersWanted: 0, workersStarted: 0 });
  await client.clusters.stop(number);
  await clusterEnded(client, number);
});
