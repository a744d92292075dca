// One of two instances can no longer run tasks: it leaves, and the tasks run elsewhere.
import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { isAlive } from '../../support/kills.ts';
import { startStack } from '../../support/stack.ts';
import type { TestStack } from '../../support/stack.ts';
import { startJob } from './job.ts';

let stack: TestStack;
beforeAll(async () => void (stack = await startStack()));
afterAll(() => stack.stop());

/** Puts a file in place of the directory of its tasks. */
function obstruct(instance: string): void {
  const work = join(stack.home, 'instances', instance, 'work');
  for (let at = 0; ; at += 1) {
    try {
      return writeFileSync(work, '', { flag: 'wx' });
    } catch {
      // The agent recreated the directory in the meantime.
      renameSync(work, `${work}.away-${at}`);
    }
  }
}

/** Sets the limit of open files to the number that the process has open now. */
function takeDescriptors(pid: number): void {
  const open = readdirSync(`/proc/${pid}/fd`).length;
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${open}:${open}`]);
}

it.each<[string, (instance: string, pid: number) => void]>([
  ['a file in place of its work directory', (instance) => obstruct(instance)],
  ['no file descriptor left', (_, pid) => takeDescriptors(pid)],
])('an instance with %s costs no task', async (_, makeSick) => {
  const job = await startJob(stack, { ntasks: 60, maxWorkers: 2, lease: 2 });
  try {
    await job.progress(5);
    const [sick = ['', 0]] = await job.agents(2);
    makeSick(...sick);
    await eventually(() => !isAlive(sick[1]), { timeoutMs: 90_000 });
    const { status, counters } = await job.end();
    expect(job.lies()).toEqual([]);
    expect(status).toBe('done');
    expect(counters.retried).toBe(0);
  } finally {
    job.remove();
  }
});
