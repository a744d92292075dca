// An outage of the control plane ends no Dask cluster: time alone proves nothing about a cluster whose head cannot be heard.
import { expect, it } from 'vitest';

import { applyLaunch, applyReport } from '../../../domain/cluster/apply.ts';
import { applyHeard, applyInspection } from '../../../domain/cluster/instance/inspect.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import type { DaskReport } from '../../../domain/cluster/dask/report.ts';
import { agentRetryMs, minAskPauseMs } from '../../../domain/cluster/dask/heard.ts';
import { intend, planCluster } from '../../../domain/cluster/plan.ts';
import type { ClusterState } from '../../../domain/cluster/state.ts';
import { maxWatchdogTimeoutMs } from '../../../domain/liveness/limits.ts';
import { daskClusterSettings, daskSettings } from '../../builders/dask-settings.ts';

const { idleTimeoutMs, aliveEveryMs } = daskSettings;
const noClientTimeoutMs = 120_000;

it.each([
  { code: 'IDLE', noClientTimeoutMs: null, clients: 1, idleForMs: 0, timeoutMs: idleTimeoutMs },
  { code: 'NO_CLIENT', noClientTimeoutMs, clients: 0, idleForMs: null, timeoutMs: noClientTimeoutMs },
])('does not end as $code while its head cannot be heard', ({ code, clients, idleForMs, timeoutMs, ...settings }) => {
  const state = aCluster(settings);
  hear(state, 60_000, { scheduler: says(clients, idleForMs) });
  const backMs = goOn(state, 60_000, 60_000 + timeoutMs + 700_000);
  expect(state.stopRequested).toBeNull();

  // After the first report following an outage, earlier reports may still be delayed.
  hear(state, backMs);
  decide(state, backMs);
  expect(state.stopRequested).toBeNull();
  const busy: ClusterState = structuredClone(state);
  hear(busy, backMs + 1_000, { scheduler: says(1, null) });
  hear(busy, backMs + agentRetryMs);
  decide(busy, backMs + agentRetryMs);
  expect(busy.stopRequested).toBeNull();

  expect(planCluster(state, backMs).wakeAtMs).toBeLessThanOrEqual(backMs + agentRetryMs);
  hear(state, backMs + aliveEveryMs);
  decide(state, backMs + agentRetryMs);
  expect(state.stopRequested).toMatchObject({ code, atMs: backMs + agentRetryMs });
});

it('ends on time while its head is heard', () => {
  const state = aCluster({ noClientTimeoutMs });
  hear(state, 60_000, { scheduler: says(0, null) });
  for (let nowMs = 60_000; nowMs < 180_000; nowMs += aliveEveryMs) hear(state, nowMs);
  decide(state, 179_999);
  expect(state.stopRequested).toBeNull();
  expect(planCluster(state, 179_999).wakeAtMs).toBe(180_000);
  decide(state, 180_000);
  expect(state.stopRequested).toMatchObject({ code: 'NO_CLIENT' });
});

it('ends in bounded time when no agent is heard any more and no inspection can say why', () => {
  const state = aCluster({ noClientTimeoutMs });
  hear(state, 60_000, { scheduler: says(0, null) });
  const endMs = goOn(state, 60_000, 60_000 + 2 * maxWatchdogTimeoutMs);
  expect(state.stopRequested).toMatchObject({ code: 'NO_CLIENT' });
  expect(endMs).toBeLessThan(60_000 + maxWatchdogTimeoutMs + 4 * aliveEveryMs);
});

it('asks the API for its head when a deadline comes, and ends on its word', () => {
  const state = aCluster({ noClientTimeoutMs });
  hear(state, 60_000, { scheduler: says(0, null) });
  expect(planCluster(state, 60_000).wakeAtMs).toBe(180_000);
  const { decisions } = planCluster(state, 180_000);
  expect(decisions).toEqual([{ kind: 'hear', ids: ['i_0'] }]);
  for (const decision of decisions) intend(state, decision, 180_000);
  expect(planCluster(state, 180_001).decisions).toEqual([]);
  applyHeard(state, [{ instance: 'i_0', heardAtMs: 175_000, sinceMs: 40_000 }]);
  expect(planCluster(state, 180_001).decisions).toContainEqual(expect.objectContaining({ code: 'NO_CLIENT' }));
});

it('asks again when the API has not heard the head, and waits for what is held up when it just hears it again', () => {
  const state = aCluster({ noClientTimeoutMs });
  hear(state, 60_000, { scheduler: says(0, null) });
  const ask = (nowMs: number, heard: Parameters<typeof applyHeard>[1]): void => {
    for (const decision of planCluster(state, nowMs).decisions) intend(state, decision, nowMs);
    applyHeard(state, heard);
  };
  ask(180_000, []);
  expect(planCluster(state, 180_000)).toMatchObject({ decisions: [], wakeAtMs: 180_000 + minAskPauseMs });
  const againMs = 180_000 + minAskPauseMs;
  ask(againMs, [{ instance: 'i_0', heardAtMs: againMs, sinceMs: againMs - 5_000 }]);
  expect(planCluster(state, againMs)).toMatchObject({ decisions: [], wakeAtMs: againMs - 5_000 + agentRetryMs });
  const endMs = againMs - 5_000 + agentRetryMs;
  expect(planCluster(state, endMs).decisions).toContainEqual(expect.objectContaining({ code: 'NO_CLIENT' }));
});

/** With its scheduler and one worker, both started. */
function aCluster(settings: { noClientTimeoutMs: number | null }): ClusterState {
  const state = createClusterState(
    { number: 1, workspace: 'w', user: 'u', createdAtMs: 0 },
    daskClusterSettings(2, { ...daskSettings, ...settings }),
  );
  for (const decision of planCluster(state, 0).decisions) {
    intend(state, decision, 0);
    if (decision.kind !== 'launch') continue;
    const launched = decision.slots.map(({ slot }) => ({ id: `i_${slot}`, slot, offer: 'local', zone: 'here' }));
    applyLaunch(state, decision.seq, { launched, failures: [] }, 0);
  }
  for (const instance of ['i_0', 'i_1']) {
    applyReport(state, { instance, bootId: instance, kind: 'register', address: 'a' }, 40_000);
    const name = instance === 'i_0' ? 'scheduler' : 'worker';
    const process = { state: 'started' as const, name, stage: 'dask', address: `tls://${name}`, reason: null };
    applyReport(state, { instance, bootId: instance, kind: 'alive', address: 'a', process }, 50_000);
  }
  return state;
}

const says = (clients: number, idleForMs: number | null): NonNullable<DaskReport['scheduler']> => ({
  tasks: { processing: 0, waiting: 0, memory: 0, erred: 0, noWorker: 0 },
  clients,
  idleForMs,
  adaptiveTarget: null,
  workers: [],
});

function hear(state: ClusterState, nowMs: number, more: DaskReport = {}): void {
  const verdict = applyReport(state, { instance: 'i_0', bootId: 'i_0', kind: 'alive', address: 'a', ...more }, nowMs);
  expect(verdict).toBe('accepted');
}

/** The control plane's link is down: each inspected instance exists, and the API has heard none. */
function decide(state: ClusterState, nowMs: number): number | null {
  for (const decision of planCluster(state, nowMs).decisions) {
    intend(state, decision, nowMs);
    if (decision.kind !== 'inspect') continue;
    const seen = decision.ids.map((id) => ({ id, state: 'alive' as const }));
    applyInspection(state, { seen, linkWorks: false, heard: [], listeningMs: 0 }, nowMs);
  }
  return planCluster(state, nowMs).wakeAtMs;
}

/** From one wake-up to the next, as the workflow does, until the end or `untilMs`; returns the time. */
function goOn(state: ClusterState, fromMs: number, untilMs: number): number {
  for (let nowMs = fromMs; ;) {
    const wakeAtMs = decide(state, nowMs);
    if (state.stopRequested !== null) return nowMs;
    if (wakeAtMs === null || wakeAtMs > untilMs) return untilMs;
    expect(wakeAtMs).toBeGreaterThan(nowMs);
    nowMs = wakeAtMs;
  }
}
