// A real scheduler that is stopped by SIGSTOP: it exists and does not answer. When it continues in time, nothing is reported.
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

  it('is reported when it is stopped, and when it answers again', async () => {
    const reports: (number | null)[] = [];
    const end = watchPulse({ link: bench.link, timeoutMs: 20_000, notify: (make) => void reports.push(make()) });
    try {
      process.kill(scheduler.pid, 'SIGSTOP');
      await eventually(() => reports.length > 0, { timeoutMs: 60_000, intervalMs: 20 });
      expect(reports[0]).toBeGreaterThanOrEqual(2_000);
      process.kill(scheduler.pid, 'SIGCONT');
      await eventually(() => reports.at(-1) === null, { timeoutMs: 60_000, intervalMs: 20 });
    } finally {
      end();
    }
  });

  it('is not reported when it continues in time', async () => {
    const reports: (number | null)[] = [];
    // The report would come after ten minutes, long after this test has ended.
    const end = watchPulse({ link: bench.link, timeoutMs: 6_000_000, notify: (make) => void reports.push(make()) });
    process.kill(scheduler.pid, 'SIGSTOP');
    const question = bench.link.order('ping', {}, 60_000);
    const first = await Promise.race([question, new Promise((resolve) => setTimeout(resolve, 500, 'silence'))]);
    process.kill(scheduler.pid, 'SIGCONT');
    expect(first).toBe('silence');
    await question;
    end();
    expect(reports).toEqual([]);
  });
});
