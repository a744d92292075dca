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
/** Two objects, as in two programs that use a cluster by its name. */
const watch = `
from distributed.deploy.cluster import Cluster
class Watcher(Cluster):
    async def _start(self):
        self.scheduler_comm = distributed.rpc(address, connection_args=client.security.get_connection_args('client'))
        await super()._start()
    def __init__(self):
        super().__init__(asynchronous=False)
        self._loop_runner.start()
        self.sync(self._start)
watchers = {'first': Watcher(), 'second': Watcher()}
result = True`;
const watched = `
total = distributed.system.MEMORY_LIMIT
result = {
    name: sorted(round(one['memory_limit'] / total, 2) for one in watcher.scheduler_info['workers'].values())
    for name, watcher in watchers.items()
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

  it('are seen by every cluster object of the scheduler, with their limits of now', async () => {
    await driver.python(watch);
    const first = await start('w');
    const second = await start('x');
    const seen = { first: [0.5, 0.5], second: [0.5, 0.5] };
    expect(await eventually(async () => isDeepStrictEqual(await driver.python(watched), seen))).toBe(true);
    const third = await start('y');
    const three = [0.33, 0.33, 0.33];
    const lowered = async () => isDeepStrictEqual(await driver.python(watched), { first: three, second: three });
    expect(await eventually(lowered)).toBe(true);
    // A closed object takes nothing from the other one.
    await driver.python(`watchers.pop('second').close()`);
    await Promise.all([first, second, third].map((worker) => worker?.end(0)));
    expect(await eventually(async () => isDeepStrictEqual(await driver.python(watched), { first: [] }))).toBe(true);
  });

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
