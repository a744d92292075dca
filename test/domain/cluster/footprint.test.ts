// What a cluster says of its size to its workspace, and when.
import { describe, expect, it } from 'vitest';

import { applyLaunch, applyTerminated } from '../../../domain/cluster/apply.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { adaptCluster, adaptNow } from '../../../domain/cluster/dask.ts';
import { footprintOf, footprintToTell, noteFootprintTold } from '../../../domain/cluster/footprint.ts';
import { intend, planCluster } from '../../../domain/cluster/plan.ts';
import { scaleCluster, stopCluster } from '../../../domain/cluster/requests.ts';
import { fewerAfterMs } from '../../../domain/limits.ts';
import { daskClusterSettings } from '../../builders/dask-settings.ts';

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
  /** What it says, as its workflow would have it said. */
  const told = () => {
    const footprint = footprintToTell(state);
    if (footprint !== null) noteFootprintTold(state, footprint);
    return footprint;
  };
  const end = (slot: number) => {
    const ids = state.instances.filter((each) => each.slot === slot).map(({ id }) => id);
    applyTerminated(state, ids, 5);
  };
  return { state, told, end, decide };
}

describe('the footprint of a cluster', () => {
  it('gets smaller as its instances end, not when they are asked to', () => {
    const { state, told, end, decide } = running(4);
    expect([footprintOf(state), told()]).toEqual([4, null]);
    scaleCluster(state, 2, 2, { seq: 1 });
    expect(told()).toEqual({ number: 7, instances: 4, scale: 1, adapt: 0 });
    decide(3);
    expect(told()).toBeNull();
    end(3);
    expect(told()?.instances).toBe(3);
    end(2);
    expect(told()?.instances).toBe(2);
    expect(told()).toBeNull();
  });

  it('follows an adaptive maximum only when the minute is over and the instances are gone', () => {
    const { state, told, end } = running(4);
    adaptCluster(state, { minimum: 0, maximum: 3 }, 2, { seq: 1 });
    adaptCluster(state, { minimum: 0, maximum: 1 }, 3, { seq: 2 });
    expect(told()).toEqual({ number: 7, instances: 4, scale: 0, adapt: 2 });
    expect(state.target).toBe(4);
    if (state.dask !== null) adaptNow(state, state.dask, 3 + fewerAfterMs);
    expect([state.target, footprintOf(state), told()]).toEqual([2, 4, null]);
    end(3);
    end(2);
    expect(told()?.instances).toBe(2);
  });

  it('says nothing of growing beyond what was said, and nothing at its end, when all is given back', () => {
    const { state, told } = running(2);
    scaleCluster(state, 3, 2, { seq: 1 });
    expect(told()).toEqual({ number: 7, instances: 3, scale: 1, adapt: 0 });
    scaleCluster(state, 4, 3);
    expect(told()).toBeNull();
    stopCluster(state, { code: 'STOPPED', text: '', atMs: 4 });
    scaleCluster(state, 1, 5, { seq: 2 });
    expect(told()).toBeNull();
  });
});
