// Real no-op tasks (`true`) on real local agents, against GNU parallel and xargs with the same concurrency. Those two keep no
// record: when they are killed, their progress is lost.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

import { createClient } from '../sdk/client.ts';
import { startStack } from '../test/support/stack.ts';
import type { BenchOptions } from './options.ts';
import type { Report } from './report.ts';

export async function batchBench(report: Report, { small, rounds = 1 }: BenchOptions): Promise<void> {
  const tasks = small ? 500 : 10_000;
  const atOnce = 2 * availableParallelism();
  const found = { ropewalk: [] as number[], parallel: [] as number[], xargs: [] as number[] };
  const stack = await startStack();
  try {
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    for (let round = 0; round < rounds; round += 1) {
      const { number } = await client.jobs.create({ command: ['true'], ntasks: tasks, maxWorkers: atOnce });
      const job = await client.jobs.wait(number);
      if (job.tasks.done !== tasks) throw new Error(JSON.stringify(job.tasks));
      // Counted from its request: its agents start in this time, as the other two programs do.
      found.ropewalk.push(tasks / ((Date.parse(job.endedAt ?? '') - Date.parse(job.submittedAt)) / 1000));
      found.parallel.push(tasks / (await secondsOf('parallel', ['-j', String(atOnce), '-N0', 'true'], tasks)));
      found.xargs.push(tasks / (await secondsOf('xargs', ['-P', String(atOnce), '-I{}', 'true'], tasks)));
      await client.clusters.waitForEnd(number);
    }
  } finally {
    await stack.stop();
  }
  report.figure(`Ropewalk: ${tasks} x true, ${atOnce} at a time`, found.ropewalk, 'tasks/s');
  report.figure('GNU parallel', found.parallel, 'tasks/s');
  report.figure('xargs -P', found.xargs, 'tasks/s');
  report.ratio('Ropewalk to GNU parallel', found.ropewalk, found.parallel);
  report.ratio('Ropewalk to xargs -P', found.ropewalk, found.xargs);
}

function secondsOf(command: string, words: string[], tasks: number): Promise<number> {
  const startedAtMs = performance.now();
  const child = spawn(command, words, { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(Array.from({ length: tasks }, (_, index) => `${index}\n`).join(''));
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(new Error(`${command} is needed for this bench`, { cause })));
    child.once('close', (code) => {
      if (code === 0) resolve((performance.now() - startedAtMs) / 1000);
      else reject(new Error(`${command} ended with ${code}`));
    });
  });
}
