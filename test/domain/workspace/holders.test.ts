// How many reservations a workspace starts at a time: a place that one start leaves goes to the next at once.
import { expect, it } from 'vitest';

import { createWorkspaceState } from '../../../domain/workspace/create.ts';
import { noteStart, takeStartable } from '../../../domain/workspace/holders.ts';
import type { Holder } from '../../../domain/workspace/state.ts';
import { startBatchSize } from '../../../domain/limits.ts';

const reserved = (number: number): Holder => ({
  ...{ number, kind: 'job', name: `job-${number}`, admissionId: `a-${number}`, specRef: 'spec', user: 'me' },
  ...{ instances: 1, vcpus: 1, reservedAtMs: 0, state: 'reserved' },
});
const numbers = (holders: Holder[]): number[] => holders.map(({ number }) => number);
const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, at) => from + at);

it('keeps so many starts under way, in order, and none twice', () => {
  const block = { next: 1, end: 1_000 };
  const state = createWorkspaceState({ slug: 'w', deploymentId: 'd', createdAtMs: 0, block });
  state.holders = range(0, 2 * startBatchSize).map(reserved);
  expect(numbers(takeStartable(state))).toEqual(range(0, startBatchSize));
  expect(takeStartable(state)).toEqual([]);
  for (const number of [7, 3, 9]) noteStart(state, number, true);
  expect(numbers(takeStartable(state))).toEqual(range(startBatchSize, 3));
  // A start that failed waits for its turn again, and leaves its place.
  noteStart(state, 5, false);
  expect(numbers(takeStartable(state))).toEqual([5]);
  expect(takeStartable(state)).toEqual([]);
});
