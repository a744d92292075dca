// Thirty days of a Dask cluster that is scaled every minute: 43,200 times, by the rules of its workflow. The state that a run
// hands to the next one, and a day's writes to the database, must not grow.
import { expect, it } from 'vitest';

import { applyLaunch, applyReport, applyTerminated } from '../../../domain/cluster/apply.ts';
import { recordChanges } from '../../../domain/cluster/changes.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { forgetHistory } from '../../../domain/cluster/history.ts';
import { applyHeard, applyInspection } from '../../../domain/cluster/instance/inspect.ts';
import { type Decision, intend, planCluster } from '../../../domain/cluster/plan.ts';
import { scaleCluster } from '../../../domain/cluster/requests.ts';
import type { ClusterState } from '../../../domain/cluster/state.ts';
import { shownCluster } from '../../../domain/cluster/status.ts';
import { forgetWritten } from '../../../domain/cost/ledger.ts';
import { daskClusterSettings, daskSettings } from '../../builders/dask-settings.ts';
import { createRandom } from '../../support/random.ts';

const days = 30;
const minutesOfDay = 1_440;
const maxWorkers = 9;
const minuteMs = 60_000;

it('carries no more and writes no more on its last day than on its first', { timeout: 300_000 }, () => {
  const patient = { ...daskSettings, idleTimeoutMs: 86_400_000, drainTimeoutMs: 180_000 };
  const created = { number: 1, workspace: 'w', user: 'ada', createdAtMs: 0 };
  const state = createClusterState(created, daskClusterSettings(1, patient));
  const random = createRandom(20_261_124);
  const bytes: number[] = [];
  const viewBytes: number[] = [];
  const rows: number[] = [];
  for (let day = 0; day < days; day += 1) {
    const ofDay = { rows: 0, bytes: 0 };
    for (let minute = 0; minute < minutesOfDay; minute += 1) {
      const nowMs = (day * minutesOfDay + minute + 1) * minuteMs;
      scaleCluster(state, 1 + Math.floor(random() * (maxWorkers + 1)), nowMs, { by: 'ada', seq: nowMs });
      ofDay.rows += act(state, nowMs);
      reportAll(state, nowMs + 1_000);
      ofDay.rows += act(state, nowMs + 1_000);
      // A run can end at any of these moments.
      ofDay.bytes = Math.max(ofDay.bytes, JSON.stringify(state).length);
    }
    rows.push(ofDay.rows);
    bytes.push(ofDay.bytes);
    viewBytes.push(JSON.stringify(shownCluster(state)).length);
  }
  const [first, last] = [days > 0 ? 0 : -1, days - 1];
  console.log(`carried at most ${Math.max(...bytes)} bytes; ${rows[last]} rows a day; ${state.launched} launched`);
  expect(state.stopRequested).toBeNull();
  // Every second scaling starts workers.
  expect(state.launched).toBeGreaterThan((days * minutesOfDay) / 2);
  expect(state.instances.length).toBeLessThanOrEqual(2 * (maxWorkers + 1));
  // Numbers become longer.
  expect(bytes[last]).toBeLessThan(1.1 * (bytes[first] ?? 0));
  expect(Math.max(...bytes)).toBeLessThan(64_000);
  expect(rows[last]).toBeLessThan(1.1 * (rows[first] ?? 0));
  expect(Math.max(...rows)).toBeLessThan(40 * minutesOfDay);
  expect(Math.max(...viewBytes)).toBeLessThan(1.2 * (viewBytes[first] ?? 0));
});

/** Runs the workflow's loop until the plan is empty; returns the number of history and cost rows written. */
function act(state: ClusterState, nowMs: number): number {
  let rows = 0;
  for (let turn = 0; ; turn += 1) {
    if (turn > 20) throw new Error('the plan does not settle');
    const { decisions } = planCluster(state, nowMs);
    for (const decision of decisions) {
      intend(state, decision, nowMs);
      carryOut(state, decision, nowMs);
    }
    recordChanges(state, nowMs);
    // Written at once, as while the database is available.
    const [history, costs] = [[...state.history.held], [...state.costs]];
    rows += history.length + costs.length;
    forgetHistory(state.history, history);
    forgetWritten(state, costs);
    if (decisions.every(({ kind }) => kind === 'drain')) return rows;
  }
}

function carryOut(state: ClusterState, decision: Decision, nowMs: number): void {
  if (decision.kind === 'launch') {
    const { seq, slots } = decision;
    const launched = slots.map(({ slot }) => ({ id: `i_${seq}_${slot}`, slot, offer: 'm', zone: 'a' }));
    applyLaunch(state, seq, { launched, failures: [] }, nowMs);
  }
  if (decision.kind === 'terminate') applyTerminated(state, decision.ids, nowMs);
  if (decision.kind === 'hear') applyHeard(state, heard(decision.ids, nowMs));
  if (decision.kind === 'inspect') {
    const seen = decision.ids.map((id) => ({ id, state: 'alive' as const }));
    const inspection = { seen, linkWorks: true, heard: heard(decision.ids, nowMs), listeningMs: nowMs };
    applyInspection(state, inspection, nowMs);
  }
}

const heard = (ids: readonly string[], heardAtMs: number) =>
  ids.map((instance) => ({ instance, heardAtMs, sinceMs: 0, silentAfterMs: null }));

/** New instances start their processes, and draining instances report drained. */
function reportAll(state: ClusterState, nowMs: number): void {
  const live = state.instances.filter((each) => each.state === 'starting' || each.state === 'ready');
  for (const { id, role, agent } of live) {
    const said = { instance: id, bootId: 'b', address: '10.0.0.1', text: '' };
    if (agent !== null) continue;
    const name = role === 'head' ? 'scheduler' : `worker-${id}`;
    const started = { state: 'started', name, stage: 'dask', address: `tls://${id}`, reason: null } as const;
    applyReport(state, { ...said, kind: 'register' }, nowMs);
    applyReport(state, { ...said, kind: 'alive', process: started }, nowMs);
  }
  const head = live.find(({ role }) => role === 'head');
  if (head === undefined) return;
  const drained = live.flatMap(({ agent }) =>
    agent?.drain ? [{ id: agent.drain.id, outcome: 'drained' as const }] : [],
  );
  const scheduler = {
    tasks: { processing: 1, waiting: 0, memory: 0, erred: 0, noWorker: 0 },
    ...{ clients: 1, idleForMs: null, adaptiveTarget: null },
    workers: live
      .filter(({ role }) => role === 'worker')
      .map(({ id }) => ({ name: `worker-${id}`, status: 'running', processing: 1 })),
  };
  const item = { instance: head.id, bootId: 'b', address: '10.0.0.1', text: '' };
  applyReport(state, { ...item, kind: 'alive', scheduler, drained }, nowMs);
}
