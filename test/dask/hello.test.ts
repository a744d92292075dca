// A scheduler counts as started only after its hello to the agent: Dask itself would run on without the preload.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from 'vitest';

import type { SchedulerState } from '../../agent/dask/scheduler/messages.ts';
import { eventually } from '../support/eventually.ts';
import { createBench } from './bench.ts';
import type { Bench } from './bench.ts';
import { daskVersions } from './environments.ts';

let bench: Bench | null = null;
afterEach(async () => {
  await bench?.close();
  bench = null;
});

describe.each(daskVersions)('a scheduler of distributed %s', (version) => {
  it('that runs without our preload is an error, although Dask starts', async () => {
    bench = await createBench(version);
    const preloadPath = join(bench.directory, 'broken.py');
    await writeFile(preloadPath, 'def dask_setup(scheduler):\n    raise RuntimeError("fails on purpose")\n');
    const { lines, link } = bench;
    const scheduler = await bench.startScheduler({ preloadPath });
    await eventually(() => lines.join('\n').includes('fails on purpose'));
    await expect(scheduler.orEnded(link.whenHello(500))).rejects.toThrow(/did not report to its agent within 0.5 s/);
  });

  it('whose preload cannot start ends with a code of its own', async () => {
    bench = await createBench(version);
    // The preload would retry an absent address forever; a missing variable is an error.
    const scheduler = await bench.startScheduler({
      env: { PYTHONPATH: await withoutTheSocket(bench.directory) },
    });
    await expect(scheduler.orEnded(bench.link.whenHello(30_000))).rejects.toThrow(/preload could not start/);
    expect(await scheduler.ended).toMatchObject({ code: 'PRELOAD', exitCode: 3 });
    expect(bench.lines.join('\n')).toContain("KeyError: 'ROPEWALK_SCHEDULER_SOCKET'");
  });

  it('started with options of its owner says hello, and so does its worker', async () => {
    bench = await createBench(version);
    await bench.startScheduler({ schedulerOptions: { allowed_failures: 7 } });
    const hello = await bench.link.whenHello(30_000);
    expect(hello).toMatchObject({ distributed: version, dask: version });
    const worker = await bench.startWorker(hello, 'c-worker-s', { workerOptions: { nthreads: 3 } });
    await worker.whenRegistered(30_000);
    // The scheduler hears of a worker before it hears that the worker runs.
    const runs = ({ workers }: SchedulerState): boolean => workers.some(({ status }) => status === 'running');
    const state = await bench.link.whenState(runs, 10_000, 'a running worker');
    expect(state.workers).toMatchObject([{ name: 'c-worker-s', nthreads: 3, status: 'running' }]);
    expect((await worker.end()).code).toBe('ENDED');
  });
});

/** Python reads sitecustomize.py before anything else. */
async function withoutTheSocket(directory: string): Promise<string> {
  await writeFile(join(directory, 'sitecustomize.py'), "import os\ndel os.environ['ROPEWALK_SCHEDULER_SOCKET']\n");
  return directory;
}
