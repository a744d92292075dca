// How a job joins the queue: its dependencies, and the reasons that end it at once.
import { describe, expect, it } from 'vitest';

import {
  type AwaitedStatus,
  dependencyFailed,
  joinQueue,
  maxWaitingJobs,
  neverFits,
  queueFull,
  waitsFor,
  waitsForRoom,
} from '../../../domain/admission/queue.ts';

const statuses = new Map<number, AwaitedStatus>([
  ...([1, 2] as const).map((number): [number, AwaitedStatus] => [number, null]),
  [3, 'done'],
  [4, 'error'],
]);
const join = (...after: [number: number, needsSuccess: boolean][]) =>
  joinQueue({ priority: 0, after: after.map(([number, needsSuccess]) => ({ number, needsSuccess })) }, (number) =>
    statuses.get(number),
  );

describe('a job that joins the queue', () => {
  it('waits for the named jobs that are open, and for no others', () => {
    const waits = [
      { number: 1, needsSuccess: false },
      { number: 2, needsSuccess: true },
    ];
    const text = 'Starts after the end of job 1, job 2 (successfully).';
    expect(join([1, false], [3, true], [2, true], [4, false])).toEqual({
      entry: { waits, reason: { code: 'WAITING_FOR_JOBS', text }, isRefused: false, approval: null },
    });
  });

  it('waits for room alone when all named jobs have ended as it needs', () => {
    const entry = { waits: [], reason: waitsForRoom, isRefused: false, approval: null };
    expect([join(), join([3, true], [4, false])]).toEqual([{ entry }, { entry }]);
    expect(waitsForRoom).toEqual({ code: 'WAITING_FOR_QUOTA', text: 'Starts when the quota has room for it.' });
  });

  it('is refused for good when a job that had to succeed did not, whatever else it waits for', () => {
    expect(join([1, false], [4, true])).toEqual({
      entry: { waits: [], reason: dependencyFailed(4, 'error'), isRefused: true, approval: null },
    });
    expect(dependencyFailed(4, 'error')).toEqual({
      code: 'DEPENDENCY_FAILED',
      text: 'Job 4, which had to succeed first, ended as error.',
    });
  });

  it.each([
    [false, 'after'],
    [true, 'afterOk'],
  ])('names a job that the workspace does not have (needs success: %s)', (needsSuccess, field) => {
    expect(join([1, false], [9, needsSuccess])).toEqual({
      error: {
        ...{ code: 'NOT_FOUND', field, message: 'There is no job 9 in this workspace.' },
        hint: '`ropewalk batch list` or GET /v1/jobs lists the ones there are.',
      },
    });
  });

  it('names ten of the jobs that it waits for, and counts the others', () => {
    const waits = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ number: index + 1, needsSuccess: false }));
    expect(waitsFor(waits(10)).text).toMatch(/, job 10\.$/);
    expect(waitsFor(waits(12)).text).toMatch(/, job 10 and 2 others\.$/);
  });

  it('never fits when it alone exceeds a limit of the workspace or of its user', () => {
    const limits = { running: 1, instances: 4, vcpus: 8 };
    const ada = { name: 'ada', limits: { vcpus: 4 } };
    expect(neverFits(limits, ada, { instances: 4, vcpus: 4 })).toBeNull();
    expect(neverFits(limits, ada, { instances: 5, vcpus: 4 })?.message).toContain('the workspace to 5 instances');
    expect(neverFits(limits, ada, { instances: 4, vcpus: 5 })?.message).toContain('ada to 5 vCPUs');
    expect(neverFits({ ...limits, running: 0 }, ada, { instances: 1, vcpus: 1 })?.code).toBe('LIMIT_EXCEEDED');
  });

  it('is refused, with the limit, when too many wait already', () => {
    expect(queueFull).toMatchObject({ code: 'LIMIT_EXCEEDED', message: expect.stringContaining(`${maxWaitingJobs}`) });
  });
});
