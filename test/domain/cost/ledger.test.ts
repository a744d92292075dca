import { expect, it } from 'vitest';

import type { ClusterState } from '../../../domain/cluster/state.ts';
import type { CostInterval } from '../../../domain/cost/interval.ts';
import { forgetWritten, mergeEntries } from '../../../domain/cost/ledger.ts';

const entry = (instance: string, toMs: number | null): CostInterval => ({
  ...{ instance, role: 'worker', type: 'm7i.large', zone: 'us-east-1a', market: 'on-demand' },
  ...{
    microsPerHour: 100_800,
    diskMicrosPerHour: 0,
    addressMicrosPerHour: 0,
    source: 'list price',
    fromMs: 1_000,
    toMs,
  },
});

it('a write takes from the state what it contained, and nothing that changed while it was under way', () => {
  const state: Pick<ClusterState, 'costs'> = { costs: [entry('i_1', 5_000), entry('i_2', null), entry('i_3', null)] };
  forgetWritten(state, [entry('i_1', null), entry('i_2', null)]);
  expect(state.costs).toEqual([entry('i_1', 5_000), entry('i_3', null)]);
});

it('of the same instance in state and database, the entry that has an end counts', () => {
  const held = [entry('i_1', 5_000), entry('i_2', null)];
  const written = [entry('i_1', null), entry('i_2', 6_000), entry('i_3', 2_000)];
  expect(mergeEntries(held, written)).toEqual([entry('i_1', 5_000), entry('i_2', 6_000), entry('i_3', 2_000)]);
});
