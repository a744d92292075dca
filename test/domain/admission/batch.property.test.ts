// Admissions decided together get the same answers as one at a time.
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { decideBatch, type AdmissionBook, type BatchRequest } from '../../../domain/admission/batch.ts';
import type { WorkspaceLimits } from '../../../domain/quota/state.ts';

const queue = { isFull: false, awaited: new Map() };
const limits = { running: 6, instances: 12, vcpus: 20 };

const requests = fc.array(
  fc.record({
    key: fc.nat(8),
    bodyHash: fc.constantFrom('one', 'one', 'other'),
    name: fc.constantFrom('', '', 'weather', 'night', 'job-2'),
    getOrCreate: fc.boolean(),
    kind: fc.constantFrom('job' as const, 'cluster' as const),
    user: fc.constantFrom('ada', 'bob'),
    instances: fc.integer({ min: 1, max: 4 }),
    /** The request ends a batch. */
    isLast: fc.boolean(),
  }),
  { minLength: 1, maxLength: 20 },
);

it('in any grouping', () => {
  let made = 0;
  fc.assert(
    fc.property(requests, (all) => {
      const items = all.map(({ key, ...rest }, index) => {
        const more = {
          estimate: { microsPerHour: 0, totalMicros: 0 },
          vcpus: 2 * rest.instances,
          admissionId: `adm_${index}`,
          idempotencyKey: `key-${key}`,
        };
        return { nowMs: index, item: { ...rest, ...more } };
      });
      const alone = runBatches(items.map((each) => [each]));
      const groups: (typeof items)[] = [[]];
      for (const [index, each] of items.entries()) {
        groups.at(-1)?.push(each);
        if (all[index]?.isLast === true) groups.push([]);
      }
      expect(runBatches(groups)).toEqual(alone);
      made += alone.numbers.length;
      expect(new Set(alone.numbers).size).toBe(alone.numbers.length);
    }),
    { numRuns: 500 },
  );
  expect(made).toBeGreaterThan(1_000);
});

/** The store's work between batches. */
function runBatches(batches: { item: BatchRequest; nowMs: number }[][]) {
  let book: AdmissionBook = {
    keys: new Map(),
    names: new Map(),
    retries: new Map(),
    budgets: [],
    approval: null,
    workspace: { use: useOf([]), limits },
    users: usersOf([]),
    queue,
  };
  const open: BatchRequest[] = [];
  const answers: unknown[] = [];
  const numbers: number[] = [];
  for (const batch of batches) {
    // The first pass counts the numbers; it must not depend on their values.
    const { made } = decideBatch(book, batch, (index) => -1 - index);
    const first = 100 + numbers.length;
    const outcome = decideBatch(book, batch, (index) => first + index);
    expect(outcome.made).toHaveLength(made.length);
    answers.push(...outcome.answers);
    numbers.push(...outcome.made.map(({ number }) => number));
    open.push(...outcome.made.map(({ item }) => item));
    book = {
      keys: new Map([...book.keys, ...outcome.keys]),
      names: new Map([...book.names, ...outcome.names]),
      retries: new Map(),
      budgets: [],
      approval: null,
      workspace: { use: useOf(open), limits },
      users: usersOf(open),
      queue,
    };
  }
  return { answers, numbers, keys: Object.fromEntries(book.keys), names: Object.fromEntries(book.names) };
}

const usersOf = (open: BatchRequest[]): AdmissionBook['users'] =>
  new Map([
    ['ada', { use: useOf(open.filter(({ user }) => user === 'ada')), limits: { instances: 7 } }],
    ['bob', { use: useOf(open.filter(({ user }) => user === 'bob')), limits: {} }],
  ]);

const useOf = (open: BatchRequest[]): WorkspaceLimits => ({
  running: open.length,
  instances: open.reduce((total, { instances }) => total + instances, 0),
  vcpus: open.reduce((total, { vcpus }) => total + vcpus, 0),
});
