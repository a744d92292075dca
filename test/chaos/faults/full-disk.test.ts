// The disk of agents and tasks fills up while a job runs, and is freed. Instances with a full disk leave, and every record
// matches a task's real outcome. The disk is a small tmpfs, which only root can mount.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, rmdirSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { errorCode } from '../../../providers/local/files.ts';
import { eventually } from '../../support/eventually.ts';
import { isAlive } from '../../support/kills.ts';
import { makeHome, removeHome, spawnStack, startStack } from '../../support/stack.ts';
import type { TestStack } from '../../support/stack.ts';
import { startJob } from './job.ts';

const mount = (directory: string, size = 'size=4m,nr_inodes=400'): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `${size},mode=700`, 'ropewalk-faults', directory]).status === 0;
const enlarge = (directory: string): void =>
  void spawnSync('mount', ['-o', 'remount,size=1g,nr_inodes=100000', directory]);
const unmount = (directory: string): void => void spawnSync('umount', ['--lazy', directory]);

function canMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'ropewalk-faults-disk-'));
  const isMounted = mount(directory);
  if (isMounted) unmount(directory);
  rmdirSync(directory);
  return isMounted;
}

const isAble = canMount();
if (!isAble) console.log('skipped: this user cannot mount a tmpfs, which the test needs for a disk that fills up');

/** Until neither another byte nor another file fits. */
function fill(directory: string): void {
  mkdirSync(directory);
  const file = openSync(join(directory, 'bytes'), 'w');
  try {
    untilFull(() => writeSync(file, Buffer.alloc(4096)));
  } finally {
    closeSync(file);
  }
  let count = 0;
  untilFull(() => {
    writeFileSync(join(directory, String(count)), '');
    count += 1;
  });
}

function untilFull(write: () => unknown): void {
  try {
    for (;;) write();
  } catch (error) {
    if (errorCode(error) !== 'ENOSPC') throw error;
  }
}

describe.skipIf(!isAble)('a disk of instances that fills up', () => {
  let home: string;
  let stack: TestStack;
  beforeAll(async () => {
    home = await makeHome();
    mkdirSync(join(home, 'instances'));
    mount(join(home, 'instances'));
    stack = await startStack({ home });
  });
  afterAll(async () => {
    try {
      await stack.stop();
    } finally {
      unmount(join(home, 'instances'));
      await removeHome(home);
    }
  });

  it('and is freed costs instances, and no task', async () => {
    const job = await startJob(stack, { ntasks: 60, maxWorkers: 2 });
    const filler = join(home, 'instances', 'filler');
    try {
      await job.progress(5);
      const agents = [...(await job.agents(2)).values()];
      fill(filler);
      await eventually(() => !agents.some(isAlive));
      expect((await job.view()).endedAt).toBeNull();
      rmSync(filler, { recursive: true });
      const { status, counters } = await job.end();
      expect(job.lies()).toEqual([]);
      expect(status).toBe('done');
      expect(counters.retried).toBe(0);
    } finally {
      rmSync(filler, { recursive: true, force: true });
      job.remove();
    }
  });
});

describe.skipIf(!isAble)('a disk that is full at the first start', () => {
  let home: string;
  beforeAll(async () => {
    home = await makeHome();
  });
  afterAll(() => removeHome(home));

  // Too small for the first file, for the tables of the database of records, and for Temporal's tables.
  it.each(['size=4k', 'size=300k', 'size=3m'])('with %s is named, and the next start works', async (size) => {
    mount(home, size);
    const failed = await spawnStack(home);
    try {
      expect(await failed.exited).toBe(1);
      expect(failed.output()).toContain(`a disk is full: ${home} has `);
      expect(failed.output()).not.toMatch(/^ +at /m);
      enlarge(home);
      const stack = await startStack({ home });
      await stack.stop();
    } finally {
      await failed.killAll('SIGKILL');
      unmount(home);
    }
  });
});
