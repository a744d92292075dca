// Workers that share one machine: their memory limits never add up to more than its memory.
import { isDeepStrictEqual } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Hello } from '../../agent/dask/scheduler/messages.ts';
import { eventually } from '../support/eventually.ts';
import { createBench } from './bench.ts';
import type { Bench } from './bench.ts';
import { startDriver } from './driver.ts';
import type { Driver } from './driver.ts';
import { daskVersions } from './environments.ts';

const limits = `
workers = client.scheduler_info(**({} if distributed.__version__ < '2025.5' else {'n_workers': -1}))['workers']
total = distributed.system.MEMORY_LIMIT
def own(dask_worker):
    return dask_worker.memory_manager.memory_limit
result = {
    'scheduler': sorted(round(one['memory_limit'] / total, 2) for one in workers.values()),
    'workers': sorted(round(one / total, 2) for one in client.run(own).values()),
    'nannies': sorted(round(one / total, 2) for one in client.run(own, nanny=True).values()),
}`;
const each = (...shares: number[]) => ({ scheduler: shares, workers: shares, nannies: shares });

describe.each(daskVersions)('workers of distributed %s on one machine', (version) => {
  let bench: Bench;
  let hello: Hello;
  let driver: Driver;

  beforeAll(async () => {
    bench = await createBench(version);
    const scheduler = await bench.startScheduler({ sharesMemory: true });
    hello = await scheduler.orEnded(bench.link.whenHello(60_000));
    driver = await startDriver(bench.pythonDirectory, hello.address, bench.certificates.client);
  });
  afterAll(async () => {
    await driver?.close();
    await bench?.close();
  });

  const start = async (name: string) => {
    const worker = await bench.startWorker(hello, name, { memoryLimit: 0.5 });
    await worker.whenRegistered(60_000);
    return worker;
  };
  const reach = (found: ReturnType<typeof each>) =>
    eventually(async () => isDeepStrictEqual(await driver.python(limits), found));

  it('have the share that they start with, smaller ones when more join, and the first ones when these leave', async () => {
    await Promise.all([start('a'), start('b')]);
    expect(await reach(each(0.5, 0.5))).toBe(true);
    const [, third] = await Promise.all([start('c'), start('d')]);
    expect(await reach(each(0.25, 0.25, 0.25, 0.25))).toBe(true);
    await third?.end(0);
    expect(await reach(each(0.33, 0.33, 0.33))).toBe(true);
    await driver.python(`client.restart(); client.wait_for_workers(3)`);
    expect(await reach(each(0.33, 0.33, 0.33))).toBe(true);
  });
});
