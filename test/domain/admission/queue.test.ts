// The jobs of the queue that are admitted.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { admitFromQueue, type ReadyJob } from '../../../domain/admission/queue.ts';

const none = { running: 0, instances: 0, vcpus: 0 };
const limits = { running: 100, instances: 10, vcpus: 100 };
const job = (number: number, more: Partial<ReadyJob> = {}): ReadyJob => ({
  ...{ number, user: 'ada', priority: 0, instances: 1, vcpus: 1, ...more },
});
const numbers = (jobs: ReadyJob[], users: Record<string, number> = {}) =>
  admitFromQueue(jobs, {
    workspace: { use: none, limits },
    users: new Map(Object.entries(users).map(([name, instances]) => [name, { use: none, limits: { instances } }])),
  }).admitted.map(({ number }) => number);

describe('the queue', () => {
  it('is ordered by priority, then by number', () => {
    expect(numbers([job(3), job(1), job(2, { priority: 5 })])).toEqual([2, 1, 3]);
  });

  it('holds small jobs back behind a large one for which the workspace has no room', () => {
    expect(numbers([job(1, { instances: 6 }), job(2, { instances: 6 }), job(3)])).toEqual([1]);
  });

  it('passes over the jobs of a user who has no room, in their order', () => {
    const jobs = [job(1), job(2, { instances: 2 }), job(3), job(4, { user: 'bob' })];
    expect(numbers(jobs, { ada: 2 })).toEqual([1, 4]);
  });

  it('says whose own quota has no room, and whether that of the workspace has none', () => {
    const own = new Map([['ada', { use: none, limits: { instances: 1 } }]]);
    const at = (jobs: ReadyJob[]) => admitFromQueue(jobs, { workspace: { use: none, limits }, users: own });
    expect(at([job(1), job(2)])).toMatchObject({ held: new Set(['ada']), isFull: false });
    expect(at([job(1), job(2), job(3, { user: 'bob', instances: 10 })])).toMatchObject({ isFull: true });
    expect(at([job(1)])).toMatchObject({ held: new Set(), isFull: false });
  });

  it.each(['running', 'instances', 'vcpus'] as const)(
    'counts what is in use of %s, and what it has just admitted',
    (key) => {
      const all = { running: 9, instances: 9, vcpus: 9 };
      const queue = [job(1), job(2), job(3)];
      const at = (use: typeof none, own: typeof none) =>
        admitFromQueue(queue, {
          workspace: { use, limits: { ...all, [key]: 3 } },
          users: new Map([['ada', { use: own, limits: { [key]: 2 } }]]),
        }).admitted.length;
      expect(at(none, none)).toBe(2);
      expect(at(none, { ...none, [key]: 1 })).toBe(1);
      expect(at({ ...none, [key]: 2 }, none)).toBe(1);
      expect(at({ ...none, [key]: 3 }, none)).toBe(0);
    },
  );

  it('never exceeds a limit, and leaves nothing behind for which there is room', () => {
    const anyJob = fc.record({
      user: fc.constantFrom('ada', 'bob'),
      priority: fc.integer({ min: -2, max: 2 }),
      instances: fc.integer({ min: 1, max: 6 }),
    });
    fc.assert(
      fc.property(fc.array(anyJob, { maxLength: 12 }), (all) => {
        const jobs = all.map((each, index) => job(index + 1, each));
        const own = new Map([['ada', { use: none, limits: { instances: 5 } }]]);
        const { admitted } = admitFromQueue(jobs, { workspace: { use: none, limits }, users: own });
        const total = (some: ReadyJob[]) => some.reduce((sum, { instances }) => sum + instances, 0);
        expect(total(admitted)).toBeLessThanOrEqual(10);
        expect(total(admitted.filter(({ user }) => user === 'ada'))).toBeLessThanOrEqual(5);
        const [first] = jobs
          .filter((each) => !admitted.includes(each))
          .toSorted((a, b) => b.priority - a.priority || a.number - b.number);
        if (first === undefined) return;
        const isFull = total(admitted) + first.instances > 10;
        const isUserFull =
          first.user === 'ada' && total(admitted.filter(({ user }) => user === 'ada')) + first.instances > 5;
        expect(isFull || isUserFull).toBe(true);
      }),
    );
  });
});
