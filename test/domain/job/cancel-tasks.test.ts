// Some tasks are cancelled, and the job continues with the others.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { isArray, parseArray } from '../../../domain/job/array.ts';
import { cancelTasks, markTasks } from '../../../domain/job/cancel-tasks.ts';
import { createJobState } from '../../../domain/job/create.ts';
import { exchange } from '../../../domain/job/exchange.ts';
import type { ExchangeItem } from '../../../domain/job/protocol.ts';
import { openTasks } from '../../../domain/job/open-tasks.ts';
import type { JobSettings, JobState } from '../../../domain/job/state.ts';
import { summarizeJob } from '../../../domain/job/summary.ts';

const reason = { code: 'CANCELLED', text: 'Cancelled by ada.', atMs: 5 };

function aJob(taskCount: number, more: Partial<JobSettings> = {}) {
  const array = `0-${taskCount - 1}`;
  const state = createJobState(
    { number: 1, workspace: 'w', submittedAtMs: 0 },
    {
      ...{
        name: 'some',
        command: 'c',
        array,
        taskCount,
        instances: 2,
        leaseMs: 90_000,
        retries: 0,
        jobTimeoutMs: null,
      },
      ...{ provider: 'local', providerQueue: 'local/test', instanceVcpus: 1, ...more },
    },
  );
  let claim = 0;
  const say = (item: Partial<ExchangeItem>) => {
    claim += 1;
    return exchange(
      state,
      { instance: 'i_1', claim, want: 0, running: [], results: [], head: false, ...item },
      1,
      (index) => index,
    );
  };
  const finish = (grants: { lease: number; task: number; attempt: number }[], exitCode = 0) =>
    say({
      results: grants.map((grant) => ({
        ...grant,
        exitCode,
        signal: null,
        startedAtMs: 0,
        endedAtMs: 0,
        reason: null,
      })),
    });
  return { state, say, finish };
}

const openOf = (state: JobState): number[] =>
  openTasks(
    state,
    Array.from({ length: state.settings.taskCount }, (_, index) => index),
  ).map(({ index }) => index);

describe('cancelled tasks', () => {
  it('end at once: their agent gets an order to drop them, and the others run to the end', () => {
    const { state, say, finish } = aJob(4);
    const { grants } = say({ want: 1 });
    cancelTasks(state, [0, 2], reason);
    expect(summarizeJob(state).tasks).toMatchObject({ cancelled: 2, pending: 2, running: 0, assigned: 0 });
    expect(state.page).toMatchObject([{ task: 0, state: 'cancelled', instance: 'i_1', reason: reason.text }]);
    expect(say({ running: [grants[0]?.lease ?? 0] }).drop).toEqual([grants[0]?.lease]);
    expect(openTasks(state, [0, 1, 2, 3]).map(({ index }) => index)).toEqual([1, 3]);
    for (const task of [1, 3]) {
      const next = say({ want: 1 }).grants;
      expect(next).toMatchObject([{ task }]);
      finish(next);
    }
    expect(state.outcome).toMatchObject({
      status: 'done',
      reason: { text: '2 tasks exited with 0, and 2 were cancelled' },
    });
  });

  it('that have ended keep their end; a job without any other is cancelled', () => {
    const { state, say, finish } = aJob(2);
    finish(say({ want: 1 }).grants);
    cancelTasks(state, [0], reason);
    expect(state.counters).toMatchObject({ done: 1, cancelled: 0 });
    const other = aJob(2);
    cancelTasks(other.state, [0, 1], reason);
    expect(other.state.outcome).toEqual({ status: 'cancelled', reason });
  });

  it('do not hide that another one failed', () => {
    const { state, say, finish } = aJob(2);
    cancelTasks(state, [0], reason);
    finish(say({ want: 1 }).grants, 3);
    expect(state.outcome).toMatchObject({ status: 'error', reason: { code: 'TASKS_FAILED' } });
  });

  it('are never handed out, and each task has one end, whatever comes in between', () => {
    const step = fc.oneof(
      fc.record({ cancel: fc.array(fc.nat(11), { minLength: 1, maxLength: 4 }) }),
      fc.record({ want: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ finish: fc.integer({ min: 0, max: 1 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.boolean(), (steps, hasHead) => {
        const { state, say, finish } = aJob(12, { retries: 1, ...(hasHead ? { headTasks: [4] } : {}) });
        const cancelled = new Set<number>();
        for (const each of steps) {
          const held = state.leases.map(({ lease }) => lease);
          if ('cancel' in each) {
            const open = openOf(state);
            cancelTasks(state, each.cancel, reason);
            for (const task of each.cancel) if (open.includes(task)) cancelled.add(task);
          } else if ('want' in each) {
            const { grants } = say({ want: each.want, running: held, head: false });
            for (const { task } of grants) expect(cancelled.has(task)).toBe(false);
          } else finish([...state.leases], each.finish);
        }
        const { done, error, cancelled: gone } = state.counters;
        expect(openOf(state)).toHaveLength(12 - done - error - gone);
        expect(gone).toBe(cancelled.size);
        for (const task of cancelled) expect(openOf(state)).not.toContain(task);
        expect(state.outcome !== null).toBe(openOf(state).length === 0);
      }),
      { numRuns: 500 },
    );
  });

  it('are named by their ids', () => {
    expect([...markTasks('8,2-3', parseArray('2-8'))]).toEqual([1, 1, 0, 0, 0, 0, 1]);
    expect([...markTasks('7-10:3', parseArray('1,4-10:3,2000000'))]).toEqual([0, 0, 1, 1, 0]);
  });

  it.each(['2-8', '8,2-7', '2-8:1'])('that the job %s does not have are refused', (array) => {
    for (const tasks of ['9', '1-2', '2-9', '2-10:4', '0-20:20'])
      expect(() => markTasks(tasks, parseArray(array))).toThrow(/the job has no task (0|1|9|10); it has/);
  });

  it('are the same however the job writes its ids', () => {
    const range = fc.tuple(fc.integer({ min: 2, max: 40 }), fc.nat(9), fc.integer({ min: 1, max: 5 }));
    const syntax = fc
      .array(range, { minLength: 1, maxLength: 4 })
      .map((ranges) => ranges.map(([first, more, step]) => `${first}-${first + more}:${step}`).join(','))
      .filter((text) => isArray(text));
    fc.assert(
      fc.property(syntax, (tasks) => {
        const found = markTasks(tasks, parseArray('2-60'));
        const ids = [...found].flatMap((mark, index) => (mark === 1 ? [index + 2] : []));
        const wanted = parseArray(tasks);
        expect(ids).toEqual(Array.from({ length: wanted.count }, (_, at) => wanted.idAt(at)).toSorted((a, b) => a - b));
        expect([...markTasks(tasks, parseArray('2,3-60'))]).toEqual([...found]);
      }),
    );
  });
});
