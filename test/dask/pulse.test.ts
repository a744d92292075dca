// A real scheduler that is stopped by SIGSTOP: it is there, and does not answer. In time it goes on, and nothing has happened.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { RunningProcess } from '../../agent/dask/run-process.ts';
import { watchPulse } from '../../agent/dask/scheduler/liveness-check.ts';
import { eventually } from '../support/eventually.ts';
import { createBench } from './bench.ts';
import type { Bench } from './bench.ts';
import { daskVersions } from './environments.ts';

describe.each(daskVersions)('a scheduler of distributed %s', (version) => {
  let bench: Bench;
  let scheduler: RunningProcess;
  beforeAll(async () => {
    bench = await createBench(version);
    scheduler = await bench.startScheduler();
    await scheduler.orEnded(bench.link.whenHello(60_000));
  });
  afterAll(async () => {
    if (scheduler !== undefined) process.kill(scheduler.pid, 'SIGCONT');
    await bench?.close();
  });

  it('is told of when it is stopped, and when it answers again', async () => {
    const told: (number | null)[] = [];
    const end = watchPulse({ link: bench.link, timeoutMs: 20_000, notify: (make) => void told.push(make()) });
    try {
      process.kill(scheduler.pid, 'SIGSTOP');
      await eventually(() => told.length > 0, { timeoutMs: 60_000, intervalMs: 20 });
      expect(told[0]).toBeGreaterThanOrEqual(2_000);
      process.kill(scheduler.pid, 'SIGCONT');
      await eventually(() => told.at(-1) === null, { timeoutMs: 60_000, intervalMs: 20 });
    } finally {
      end();
    }
  });

  it('is no news when it goes on in time', async () => {
    const told: (number | null)[] = [];
    // Told of after ten minutes: in time is whenever this test is done.
    const end = watchPulse({ link: bench.link, timeoutMs: 6_000_000, notify: (make) => void told.push(make()) });
    process.kill(scheduler.pid, 'SIGSTOP');
    const question = bench.link.order('ping', {}, 60_000);
    const first = await Promise.race([question, new Promise((resolve) => setTimeout(resolve, 500, 'silence'))]);
    process.kill(scheduler.pid, 'SIGCONT');
    expect(first).toBe('silence');
    await question;
    end();
    expect(told).toEqual([]);
  });
});
