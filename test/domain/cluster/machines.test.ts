// The next launches after a cloud had no capacity: never the same too soon, never across zones, and on demand only where the
// policy permits it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { applyLaunch, applyReport, applyTerminated } from '../../../domain/cluster/apply.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import {
  availableAgainAtMs,
  maxSlotsPerLaunch,
  noteUnavailable,
  placeLaunch,
} from '../../../domain/cluster/capacity/machines.ts';
import type { MachineSettings } from '../../../domain/cluster/capacity/machine-settings.ts';
import { intend, planCluster } from '../../../domain/cluster/plan.ts';
import type { ClusterState, FailureScope, LaunchFailure } from '../../../domain/cluster/state.ts';
import { unavailableOfferMs } from '../../../domain/cluster/limits.ts';
import { failuresOf } from '../../builders/slot-failures.ts';

const machines: MachineSettings = {
  workerTypes: ['m6i.large', 'm5.large'],
  headTypes: ['t3.large'],
  architecture: 'x86_64',
  spotPolicy: 'on-demand',
  region: 'r',
  zones: ['a', 'b'],
  allowCrossZone: false,
  diskGib: 30,
};
const both = new Set(['head', 'worker'] as const);

function cluster(changes: Partial<MachineSettings> = {}, instances = 3): ClusterState {
  const settings = {
    name: 'c',
    job: null,
    instances,
    provider: 'aws',
    providerQueue: 'aws',
    instanceVcpus: 2,
    registerTimeoutMs: 600_000,
    machines: { ...machines, ...changes },
    dask: null,
  };
  return createClusterState({ number: 1, workspace: 'default', user: 'u', createdAtMs: 0 }, settings);
}

const failure = (scope: FailureScope, changes: Partial<LaunchFailure> = {}): LaunchFailure => ({
  offer: 'm6i.large',
  zone: 'a',
  market: 'on-demand',
  code: 'Short',
  scope,
  text: 'AWS is short of it.',
  count: 1,
  ...changes,
});

const place = (state: ClusterState, nowMs = 0) => placeLaunch(state, state.settings.machines ?? machines, both, nowMs);

describe('after a failure', () => {
  it('of one offer the others are asked for, and it again after three minutes', () => {
    const state = cluster();
    for (const zone of ['a', 'b']) noteUnavailable(state, failure('offer', { zone }), 0);
    expect(place(state)?.worker.types).toEqual(['m5.large']);
    expect(place(state, unavailableOfferMs)?.worker.types).toEqual(['m6i.large', 'm5.large']);
  });

  it('of a zone the other zone is asked', () => {
    const state = cluster();
    noteUnavailable(state, failure('zone'), 0);
    expect([place(state)?.worker.zones, place(state)?.head.zones]).toEqual([['b'], ['b']]);
  });

  it.each<[FailureScope, string[] | null]>([
    ['quota', null],
    ['market', null],
    ['throttle', ['m6i.large', 'm5.large']],
    ['cloud', ['m6i.large', 'm5.large']],
  ])('of scope %s on demand workers may be %j', (scope, types) => {
    const state = cluster();
    noteUnavailable(state, failure(scope), 0);
    expect(place(state)?.worker.types ?? null).toEqual(types);
  });

  it('of the spot market, workers are on demand only where the policy lets them', () => {
    const markets = (['spot', 'spot_with_fallback'] as const).map((spotPolicy) => {
      const state = cluster({ spotPolicy });
      const before = place(state)?.worker.market;
      noteUnavailable(state, failure('quota', { market: 'spot' }), 0);
      return [before, place(state)?.worker.market ?? null];
    });
    expect(markets).toEqual([
      ['spot', null],
      ['spot', 'on-demand'],
    ]);
  });

  it('with all offers excluded, the plan launches nothing and wakes when one may be available again', () => {
    const state = cluster({ spotPolicy: 'spot' });
    const [launch] = planCluster(state, 0).decisions;
    if (launch?.kind !== 'launch') throw new Error('the plan does not launch');
    intend(state, launch, 0);
    applyLaunch(state, launch.seq, { launched: [], failures: [failure('quota', { market: 'spot', count: 3 })] }, 0);
    const later = planCluster(state, 100_000);
    expect([later.decisions, later.wakeAtMs]).toEqual([[], unavailableOfferMs]);
    expect(planCluster(state, unavailableOfferMs).decisions).toMatchObject([{ kind: 'launch' }]);
  });
});

describe('a launch', () => {
  it('goes to the zone of the other instances, unless the cluster can span zones', () => {
    const zonesAfterLaunch = (allowCrossZone: boolean) => {
      const state = cluster({ allowCrossZone });
      const [launch] = planCluster(state, 0).decisions;
      if (launch?.kind !== 'launch') throw new Error('the plan does not launch');
      intend(state, launch, 0);
      const launched = [{ id: 'i-1', slot: 0, offer: 't3.large', zone: 'b' }];
      applyLaunch(state, launch.seq, { launched, failures: [] }, 0);
      return place(state, 1)?.worker.zones;
    };
    expect([zonesAfterLaunch(false), zonesAfterLaunch(true)]).toEqual([['b'], ['a', 'b']]);
  });

  it('is bounded: a thousand workers come in several', () => {
    const state = cluster({}, 1_001);
    const [launch] = planCluster(state, 0).decisions;
    expect(launch?.kind === 'launch' ? launch.slots.length : 0).toBe(maxSlotsPerLaunch);
  });
});

describe('an interrupted spot instance', () => {
  it('is no failure of its slot, and its offer is left alone while another takes its place', () => {
    const state = cluster({ spotPolicy: 'spot' }, 2);
    const [first] = planCluster(state, 0).decisions;
    if (first?.kind !== 'launch') throw new Error('the plan does not launch');
    intend(state, first, 0);
    const launched = [0, 1].map((slot) => ({ id: `i-${slot}`, slot, offer: 'm6i.large', zone: 'a' }));
    applyLaunch(state, first.seq, { launched, failures: [] }, 0);
    const said = { instance: 'i-1', bootId: 'b'.repeat(16), address: '10.0.0.1' };
    applyReport(state, { ...said, kind: 'register' }, 1_000);
    const interruption = { kind: 'terminate', at: new Date(60_000).toISOString() } as const;
    applyReport(state, { ...said, kind: 'alive', interruption }, 2_000);
    applyReport(state, { ...said, kind: 'leaving' }, 3_000);
    expect(failuresOf(state, 1)).toBe(0);
    expect(state.events.map(({ code }) => code)).toContain('SPOT_INTERRUPTED');
    applyTerminated(state, ['i-1'], 4_000);
    const [again] = planCluster(state, 4_000).decisions;
    expect(again).toMatchObject({
      kind: 'launch',
      slots: [{ slot: 1, generation: 2, role: 'worker' }],
      placement: { worker: { types: ['m5.large'], market: 'spot', zones: ['a'] } },
    });
  });
});

describe('any memory of failures', () => {
  const failures = fc.array(
    fc.record({
      scope: fc.constantFrom<FailureScope>('offer', 'zone', 'subnet', 'market', 'quota', 'throttle', 'cloud'),
      offer: fc.constantFrom('m6i.large', 'm5.large', 't3.large', ''),
      zone: fc.constantFrom('a', 'b', ''),
      market: fc.constantFrom('spot' as const, 'on-demand' as const),
      atMs: fc.integer({ min: 0, max: 400_000 }),
    }),
    { maxLength: 12 },
  );
  const policy = fc.constantFrom('on-demand' as const, 'spot' as const, 'spot_with_fallback' as const);

  it('never asks for what lately failed, keeps to the policy, and forgets in time', () => {
    let refused = 0;
    const property = fc.property(failures, policy, fc.integer({ min: 0, max: 700_000 }), (list, spotPolicy, nowMs) => {
      const state = cluster({ spotPolicy });
      for (const { atMs, ...each } of list.toSorted((a, b) => a.atMs - b.atMs)) {
        if (atMs <= nowMs) noteUnavailable(state, failure(each.scope, each), atMs);
      }
      const placed = place(state, nowMs);
      if (placed === null) {
        refused += 1;
        expect(availableAgainAtMs(state, nowMs)).toBeGreaterThan(nowMs);
        expect(place(state, nowMs + unavailableOfferMs)).not.toBeNull();
        return;
      }
      expect(placed.head.market).toBe('on-demand');
      if (spotPolicy !== 'spot_with_fallback') expect(placed.worker.market).toBe(spotPolicy);
      for (const { types, zones, market } of [placed.head, placed.worker]) {
        expect(Math.min(types.length, zones.length)).toBeGreaterThan(0);
        for (const { scope, offer, zone, market: sold, atMs } of list) {
          const isFresh = atMs <= nowMs && nowMs < atMs + unavailableOfferMs && sold === market;
          if (!isFresh) continue;
          if (scope === 'market' || scope === 'quota') throw new Error('a market that failed was asked again');
          if (scope === 'zone' || scope === 'subnet') expect(zones).not.toContain(zone);
          if (scope === 'offer' && zone === '') expect(types).not.toContain(offer);
        }
      }
    });
    fc.assert(property, { numRuns: 10_000 });
    expect(refused).toBeGreaterThan(500);
  });
});
