// Tasks of the head instance, and jobs that start all at once.
import { describe, expect, it } from 'vitest';

import { parseBatchHeader } from '../../../domain/batch-header.ts';
import { createJobState } from '../../../domain/job/create.ts';
import { loseInstance } from '../../../domain/job/events.ts';
import { exchange } from '../../../domain/job/exchange.ts';
import { resolveJob, type JobInput } from '../../../domain/job/settings.ts';
import type { JobState } from '../../../domain/job/state.ts';

describe('a job whose head instance has tasks of its own', () => {
  it('gives them to the head alone, and the others to workers alone, also when they are tried again', () => {
    const state = aJob({ taskCount: 5, headTasks: [1, 4], retries: 1 });
    expect(ask(state, 'worker', false, 1)).toBe(0);
    expect(ask(state, 'head', true, 1)).toBe(1);
    end(state, 'head', true, 1, 1);
    expect(ask(state, 'worker-2', false, 1)).toBe(2);
    loseInstance(state, { id: 'worker-2', why: 'gone', isOrderly: true }, 1);
    expect(ask(state, 'worker-3', false, 1)).toBe(2);
    expect(ask(state, 'worker-4', false, 1)).toBe(3);
    expect(ask(state, 'worker-5', false, 1)).toBeNull();
    expect(ask(state, 'head', true, 2)).toBe(4);
    end(state, 'head', true, 2, 0);
    // Its first task failed and is retried after those that were never tried.
    expect(ask(state, 'head', true, 3)).toBe(1);
    end(state, 'head', true, 3, 0);
    expect(ask(state, 'head', true, 4)).toBeNull();
  });

  it('ends when all have ended', () => {
    const state = aJob({ taskCount: 2, headTasks: [0] });
    ask(state, 'head', true, 1);
    end(state, 'head', true, 1, 0);
    ask(state, 'worker', false, 1);
    end(state, 'worker', false, 1, 0);
    expect(state.outcome?.status).toBe('done');
  });

  it.each<[Partial<JobInput>, object]>([
    [{ ntasks: 4 }, { instances: 4 }],
    [
      { ntasks: 4, taskOnScheduler: true },
      { instances: 4, headTasks: [0] },
    ],
    [
      { array: '7,3,9', taskOnScheduler: true, maxWorkers: 1 },
      { instances: 2, headTasks: [1] },
    ],
    [
      { ntasks: 4, taskOnScheduler: false },
      { instances: 5, headTasks: [] },
    ],
    [
      { ntasks: 4, taskOnScheduler: false, maxWorkers: 2 },
      { instances: 3, headTasks: [] },
    ],
    [
      { ntasks: 4, schedulerTaskArray: '2-3' },
      { instances: 3, headTasks: [2, 3] },
    ],
    [
      { ntasks: 1, taskOnScheduler: true },
      { instances: 1, headTasks: [0] },
    ],
  ])('%j comes to %j', (input, expected) => {
    expect(resolve(input)).toMatchObject(expected);
  });

  it('is described by the header too', () => {
    expect(resolve({ ntasks: 3 }, '# COILED no-task-on-scheduler').headTasks).toEqual([]);
    expect(resolve({ ntasks: 3 }, '# COILED task-on-scheduler True').headTasks).toEqual([0]);
    expect(resolve({ ntasks: 3 }, '# COILED scheduler_task_array 1').headTasks).toEqual([1]);
    expect(resolve({ ntasks: 3, taskOnScheduler: true }, '# COILED no-task-on-scheduler').headTasks).toEqual([0]);
  });

  it.each<[Partial<JobInput>, RegExp]>([
    [{ ntasks: 2, schedulerTaskArray: '2' }, /no task 2; it has 0-1/],
    [{ ntasks: 2, schedulerTaskArray: '0', taskOnScheduler: false }, /both have tasks and have none/],
  ])('%j is refused', (input, message) => {
    expect(() => resolve(input)).toThrow(message);
  });

  it('is refused where the provider has one instance only', () => {
    const one = { maxInstances: 1 };
    expect(() => resolveJob({ command: ['x'], taskOnScheduler: false }, noHeader, one)).toThrow(/one instance/);
  });
});

describe('a job that starts all at once', () => {
  it('hands out no task before all its instances have asked, and then to each', () => {
    const state = aJob({ taskCount: 3, instances: 3, gang: true });
    expect(ask(state, 'head', true, 1)).toBeNull();
    expect(ask(state, 'a', false, 1)).toBeNull();
    expect(ask(state, 'a', false, 2)).toBeNull();
    loseInstance(state, { id: 'a', why: 'gone', isOrderly: false }, 2);
    expect(ask(state, 'b', false, 1)).toBeNull();
    expect(ask(state, 'c', false, 1)).toBe(0);
    expect(ask(state, 'b', false, 2)).toBe(1);
    // After it has started, a lost instance delays no other.
    loseInstance(state, { id: 'c', why: 'gone', isOrderly: false }, 3);
    expect(ask(state, 'head', true, 2)).toBe(0);
    expect(ask(state, 'd', false, 1)).toBe(2);
  });

  it('is asked for by an option of the header too', () => {
    expect(resolve({ waitForReadyCluster: true }).gang).toBe(true);
    expect(resolve({}, '# COILED wait-for-ready-cluster').gang).toBe(true);
    expect(resolve({}, '# COILED wait-for-ready-cluster false')).not.toHaveProperty('gang');
  });
});

const noHeader = parseBatchHeader('');
const resolve = (input: Partial<JobInput>, header = '') =>
  resolveJob({ command: ['x'], ...input }, parseBatchHeader(header), { maxInstances: 8 });

interface Given {
  taskCount: number;
  instances?: number;
  retries?: number;
  headTasks?: number[];
  gang?: true;
}

function aJob(given: Given): JobState {
  const { taskCount } = given;
  return createJobState(
    { number: 1, workspace: 'default', submittedAtMs: 0 },
    {
      ...{ name: 'j', command: 'true', array: `0-${taskCount - 1}`, instances: 2, leaseMs: 90_000, retries: 0 },
      ...{ jobTimeoutMs: null, provider: 'local', providerQueue: 'local/h', instanceVcpus: 1 },
      ...given,
    },
  );
}

/** The task that an instance gets, or null. */
function ask(state: JobState, instance: string, head: boolean, claim: number): number | null {
  const item = { instance, head, claim, want: 1, running: [], results: [] };
  return exchange(state, item, 1, (index) => index).grants[0]?.task ?? null;
}

function end(state: JobState, instance: string, head: boolean, claim: number, exitCode: number): void {
  const lease = state.leases.find((held) => held.instance === instance);
  const { lease: number = 0, task = 0, attempt = 1 } = lease ?? {};
  const result = {
    ...{ lease: number, task, attempt, exitCode, signal: null },
    ...{ startedAtMs: 1, endedAtMs: 1, reason: null },
  };
  exchange(state, { instance, head, claim, want: 0, running: [], results: [result] }, 1, (index) => index);
}
