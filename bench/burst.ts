// One-task jobs created at the same moment on real local agents: seconds until all are done, and the number of instances used.
// An instance that is launched again because the control plane is behind would cost money on a cloud.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

import { createClient } from '../sdk/client.ts';
import { startStack } from '../test/support/stack.ts';
import type { BenchOptions } from './options.ts';
import { cpuClock } from './processes.ts';
import type { Report } from './report.ts';

/** Jobs that are not done by then are reported as they are. */
const longestMs = 1_200_000;
const checkEveryMs = 1_000;
const sayEveryMs = 20_000;

export async function burstBench(report: Report, { small, jobs = small ? 20 : 1_000 }: BenchOptions): Promise<void> {
  const stack = await startStack();
  const database = new DatabaseSync(join(stack.home, 'ropewalk.db'), { readOnly: true });
  try {
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    const cpu = await cpuClock(await stack.childPids());
    const startMs = performance.now();
    const seconds = (): number => (performance.now() - startMs) / 1_000;
    await Promise.all(Array.from({ length: jobs }, () => client.jobs.create({ command: ['true'] })));
    report.figure(`${jobs} one-task jobs at once: all answered`, seconds(), 's');
    const counts = database.prepare("select status, count(*) as count from records where kind = 'job' group by status");
    const done = (): number => Number(counts.all().find(({ status }) => status === 'done')?.['count'] ?? 0);
    let saidMs = 0;
    while (done() < jobs && performance.now() - startMs < longestMs) {
      await sleep(checkEveryMs);
      if (performance.now() - saidMs < sayEveryMs) continue;
      saidMs = performance.now();
      const instances = await readdir(join(stack.home, 'instances')).catch(() => []);
      report.say(`after ${seconds().toFixed(0)} s: ${done()} done, ${instances.length} instances launched`);
    }
    const launched = (await readdir(join(stack.home, 'instances'))).length;
    report.figure('  until the last one is done', seconds(), 's');
    report.figure('  done', done(), 'jobs');
    report.figure('  instances launched for each job', launched / jobs, 'instances');
    for (const [name, used] of Object.entries(await cpu())) report.figure(`  ${name}: processor time`, used, 's');
  } finally {
    database.close();
    await stack.stop();
  }
}
