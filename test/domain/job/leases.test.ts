// The leases of a job by number and by instance, against a search through all of them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { addLease, findLease, leasesOf, removeLease } from '../../../domain/job/leases.ts';
import type { Lease } from '../../../domain/job/state.ts';

const instances = ['a', 'b', 'c'];
const lease = (number: number, instance: string): Lease => ({
  ...{ lease: number, task: number, attempt: 1, instance, claim: 0, grantedAtMs: 0, heardAtMs: 0, deadlineMs: 1 },
  ...{ startedAtMs: null, extensions: 0 },
});

const step = fc.oneof(
  fc.record({ add: fc.constantFrom(...instances) }),
  fc.record({ remove: fc.nat(40) }),
  fc.constant('continue as new' as const),
);

describe('the leases of a job', () => {
  it('are found as a search through all of them finds them', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let state: { leases: Lease[] } = { leases: [] };
        let nth = 0;
        for (const one of steps) {
          if (one === 'continue as new') state = structuredClone(state);
          else if ('add' in one) addLease(state, lease((nth += 1), one.add));
          else {
            const held = state.leases.find(({ lease: number }) => number === one.remove);
            expect(removeLease(state, held ?? lease(one.remove, 'a'))).toBe(held !== undefined);
          }
          for (const instance of instances) {
            expect(leasesOf(state, instance)).toEqual(state.leases.filter((held) => held.instance === instance));
            for (let number = 0; number <= nth + 1; number += 1)
              expect(findLease(state, instance, number)).toBe(
                state.leases.find((held) => held.lease === number && held.instance === instance),
              );
          }
        }
      }),
    );
  });

  it('of an instance stay as they were read while others are added and removed', () => {
    const state = { leases: [] as Lease[] };
    for (const number of [1, 2, 3]) addLease(state, lease(number, 'a'));
    const read = leasesOf(state, 'a');
    for (const held of read) removeLease(state, held);
    addLease(state, lease(4, 'a'));
    expect(read.map(({ lease: number }) => number)).toEqual([1, 2, 3]);
    expect(leasesOf(state, 'a').map(({ lease: number }) => number)).toEqual([4]);
    expect(leasesOf(state, 'b')).toEqual([]);
  });
});
