// A Dask cluster on the shared stack is scaled out and in while its workers compute and hold results.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, it } from 'vitest';

import type { Cluster } from '../../sdk/client.ts';
import { clusterEnded, clusterReady } from '../support/cluster-waits.ts';
import { connectDask, daskPython } from '../support/dask.ts';
import type { DaskClient } from '../support/dask.ts';
import { eventually } from '../support/eventually.ts';
import { sharedStack } from '../support/shared-stack.ts';

const out = mkdtempSync(join(tmpdir(), 'ropewalk-dask-'));
afterAll(() => rmSync(out, { recursive: true, force: true }));

const names = (cluster: Cluster): string[] =>
  cluster.instances.flatMap(({ role, process }) => (role === 'worker' && process !== null ? [process.name] : []));

it('a Dask cluster scales up, and drains on the way down: what runs finishes, what is held moves, nothing is computed twice', async () => {
  const { client, home } = await sharedStack();
  const { number } = await client.clusters.create({ workers: 1 });
  await clusterReady(client, number, 1);
  await client.clusters.scale(number, 3);
  const wide = await clusterReady(client, number, 3);
  let dask: DaskClient | null = null;
  try {
    dask = await connectDask(client, number, daskPython(home));
    const workers = names(wide);
    await dask.ask({ op: 'hold', workers });
    // Each worker may be the one that stays: the slow task runs on one that is certainly not alone.
    const begun = join(out, 'begun');
    await dask.ask({ op: 'slow', path: begun, seconds: 6, worker: workers[1] });
    await eventually(() => existsSync(begun));
    const taken = async () => (await client.workspaces.current()).use.instances;
    expect(await taken()).toBe(4);
    await client.clusters.scale(number, 1);
    await clusterReady(client, number, 1);
    await eventually(async () => (await client.clusters.get(number)).instances.length === 2);
    // Its quota reservation follows its instances.
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
  await clusterEnded(client, number);
});
