// The usage reports of a cluster to its reservation, and their times.
import { describe, expect, it } from 'vitest';

import { applyLaunch, applyTerminated } from '../../../domain/cluster/apply.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { adaptCluster, adaptNow } from '../../../domain/cluster/dask/adaptive.ts';
import { usageOf, usageToNote, usageWasNoted } from '../../../domain/cluster/usage.ts';
import { intend, planCluster } from '../../../domain/cluster/plan.ts';
import { scaleCluster, stopCluster } from '../../../domain/cluster/requests.ts';
import { between, daskClusterSettings, fewerAfterMs } from '../../builders/dask-settings.ts';

function running(count: number) {
  const state = createClusterState(
    { number: 7, workspace: 'w', user: 'u', createdAtMs: 0 },
    daskClusterSettings(count),
  );
  const decide = (nowMs: number) => {
    for (const decision of planCluster(state, nowMs).decisions) intend(state, decision, nowMs);
  };
  decide(0);
  const launched = Array.from({ length: count }, (_, slot) => ({ id: `i_${slot}`, slot, offer: 'local', zone: 'z' }));
  applyLaunch(state, 1, { launched, failures: [] }, 1);
  /** The recorded reports, as its workflow records them. */
  const noted = () => {
    const usage = usageToNote(state);
    if (usage !== null) usageWasNoted(state, usage);
    return usage;
  };
  const end = (slot: number) => {
    const ids = state.instances.filter((each) => each.slot === slot).map(({ id }) => id);
    applyTerminated(state, ids, 5);
  };
  return { state, noted, end, decide };
}

describe('the noted usage of a cluster', () => {
  it('gets smaller as its instances end, not when they are asked to', () => {
    const { state, noted, end, decide } = running(4);
    expect([usageOf(state), noted()]).toEqual([4, null]);
    scaleCluster(state, 2, 2, { by: 'u', seq: 1 });
    expect(noted()).toEqual({ number: 7, instances: 4, scale: 1, adapt: 0 });
    decide(3);
    expect(noted()).toBeNull();
    end(3);
    expect(noted()?.instances).toBe(3);
    end(2);
    expect(noted()?.instances).toBe(2);
    expect(noted()).toBeNull();
  });

  it('follows an adaptive maximum only after a minute, when the instances are gone', () => {
    const { state, noted, end } = running(4);
    adaptCluster(state, between(0, 3), 2, { by: 'u', seq: 1 });
    adaptCluster(state, between(0, 1), 3, { by: 'u', seq: 2 });
    expect(noted()).toEqual({ number: 7, instances: 4, scale: 0, adapt: 2 });
    expect(state.target).toBe(4);
    if (state.dask !== null) adaptNow(state, state.dask, 3 + fewerAfterMs);
    expect([state.target, usageOf(state), noted()]).toEqual([2, 4, null]);
    end(3);
    end(2);
    expect(noted()?.instances).toBe(2);
  });

  it('is not repeated for growth beyond it, nor at the end, when everything is released', () => {
    const { state, noted } = running(2);
    scaleCluster(state, 3, 2, { by: 'u', seq: 1 });
    expect(noted()).toEqual({ number: 7, instances: 3, scale: 1, adapt: 0 });
    scaleCluster(state, 4, 3);
    expect(noted()).toBeNull();
    stopCluster(state, { code: 'STOPPED', text: '', atMs: 4 });
    scaleCluster(state, 1, 5, { by: 'u', seq: 2 });
    expect(noted()).toBeNull();
  });
});
