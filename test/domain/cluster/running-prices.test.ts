import { describe, expect, it } from 'vitest';

import { applyLaunch } from '../../../domain/cluster/apply.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { costEnd } from '../../../domain/cluster/cost-limit.ts';
import { intend, planCluster } from '../../../domain/cluster/plan.ts';
import { stopCluster } from '../../../domain/cluster/requests.ts';
import { inspectAgain } from '../../../domain/cluster/resume.ts';
import { applyCharges } from '../../../domain/cluster/running-prices.ts';
import { shownCluster } from '../../../domain/cluster/status.ts';
import type { ClusterState } from '../../../domain/cluster/state.ts';
import { forgetWritten, spendingPerHour, spentMicros } from '../../../domain/cost/ledger.ts';

const hourMs = 3_600_000;
const startMs = 1_790_000_000_000;

function clusterOf({ isSpot = true, maxCostMicros }: { isSpot?: boolean; maxCostMicros?: number } = {}): ClusterState {
  const state = createClusterState(
    { number: 1, workspace: 'w', user: 'ada', createdAtMs: startMs },
    {
      ...{ name: '', job: 1, instances: 1, provider: 'p', providerQueue: 'q', instanceVcpus: 1, dask: null },
      ...{ registerTimeoutMs: 99 * hourMs, maxCostMicros },
    },
  );
  const price = { microsPerHour: 100_000, diskMicrosPerHour: 1_000, addressMicrosPerHour: 5_000, source: 'launch' };
  state.launches.push({ seq: 0, slots: [0], atMs: startMs });
  const launched = { id: 'i-1', slot: 0, offer: 'm', zone: 'a', price };
  const outcome = { launched: [isSpot ? { ...launched, hasLaterPrices: true as const } : launched], failures: [] };
  applyLaunch(state, 0, outcome, startMs);
  return state;
}

const risen = { id: 'i-1', microsPerHour: 90_000, source: 'by the hour' };
const after = (hours: number): number => startMs + hours * hourMs;
const kinds = (state: ClusterState, nowMs: number) => planCluster(state, nowMs).decisions.map(({ kind }) => kind);

describe('the prices of existing spot instances', () => {
  it('are read each hour of the oldest one, not before, and not while a read is under way', () => {
    const state = clusterOf();
    expect(kinds(state, after(1) - 1)).not.toContain('readCharges');
    expect(planCluster(state, after(0.5))).toMatchObject({ wakeAtMs: after(1), wakeFor: 'spot prices are read at' });
    const due = planCluster(state, after(1)).decisions.find(({ kind }) => kind === 'readCharges');
    expect(due).toEqual({ kind: 'readCharges', ids: ['i-1'] });
    if (due !== undefined) intend(state, due, after(1));
    expect(kinds(state, after(1.1))).not.toContain('readCharges');
    applyCharges(state, [], after(1.1));
    expect(kinds(state, after(2) - 1)).not.toContain('readCharges');
    expect(kinds(state, after(2))).toContain('readCharges');
  });

  it('are read again by the next run of the workflow, when the read got no answer', () => {
    const state = clusterOf();
    intend(state, { kind: 'readCharges', ids: ['i-1'] }, after(1));
    inspectAgain(state);
    expect(kinds(state, after(1.1))).toContain('readCharges');
  });

  it('are not read where they do not change, nor of a cluster that stops', () => {
    expect(kinds(clusterOf({ isSpot: false }), after(50))).not.toContain('readCharges');
    const state = clusterOf();
    stopCluster(state, { code: 'STOPPED', text: '', atMs: after(1) });
    expect(kinds(state, after(1))).not.toContain('readCharges');
  });

  it('count in the cost, the limit and the ledger, each from its hour on', () => {
    const state = clusterOf({ maxCostMicros: 500_000 });
    forgetWritten(state, state.costs);
    applyCharges(state, [{ ...risen, later: [{ fromMs: after(1), microsPerHour: 400_000 }] }], after(1));
    expect(spendingPerHour(state, after(1) - 1)).toBe(96_000);
    expect(spendingPerHour(state, after(1))).toBe(406_000);
    expect(spentMicros(state, after(2))).toBe(96_000 + 406_000);
    expect(costEnd(state, after(2) - 60_000)).toBeNull();
    expect(costEnd(state, after(2))?.code).toBe('MAX_COST');
    const later = [{ fromMs: after(1), microsPerHour: 400_000 }];
    expect(state.costs).toMatchObject([{ instance: 'i-1', toMs: null, microsPerHour: 90_000, later }]);
  });

  it('stay in the state until a write that contained them, and are written only when they changed', () => {
    const state = clusterOf();
    const atLaunch = [...state.costs];
    const charge = { ...risen, later: [] };
    const before = shownCluster(state);
    applyCharges(state, [charge], after(1));
    forgetWritten(state, atLaunch);
    const shown = shownCluster(state);
    expect(shown).not.toEqual(before);
    expect(state.costs).toMatchObject([{ microsPerHour: 90_000 }]);
    forgetWritten(state, state.costs);
    applyCharges(state, [charge], after(2));
    expect(shownCluster(state)).toEqual(shown);
    expect(state.costs).toEqual([]);
  });
});
