// A simulation of one Dask cluster: processes that start, fail and end, a scheduler that reports its workers, drains with every outcome or none,
// users who scale, adapt and stop. Inputs are in dask-inputs.ts, checks in dask-checks.ts.
import fc from 'fast-check';

import type { ClusterState, DaskSettings } from '../../domain/cluster/state.ts';
import { bornAtMs, daskSubjects, type DaskSubject, type DaskSimulation, openBooks } from './dask-books.ts';
import { checkNow, decide } from './dask-checks.ts';
import {
  adapt,
  scale,
  bringUp,
  inspected,
  interrupt,
  launched,
  live,
  note,
  sendReport,
  reportDrained,
  reportProcess,
  reportScheduler,
  reportUnanswered,
  terminated,
} from './dask-inputs.ts';
import { between, daskClusterSettings, daskSettings } from './dask-settings.ts';
import { endGame, outage, sendAway } from './dask-scenes.ts';
import type { DaskRules } from './rules.ts';
import { type CheckOptions, checkSimulations, type Met, must, pick, same } from './simulations.ts';

/** Runs many simulations against the rules; throws when one breaks them. */
export function checkDaskSimulations(rules: DaskRules, options: CheckOptions): Record<string, number> {
  const run = (plan: DaskPlan, met: Met<DaskSubject>): void => runDaskSimulation(rules, plan, met);
  return checkSimulations({ plan: daskPlan, subjects: daskSubjects, run }, options);
}

const words = fc.record({
  do: fc.constant('scheduler'),
  clients: fc.constantFrom(0, 0, 1, 2),
  idleForMs: fc.constantFrom(null, null, 0, 100_000, 290_000),
  target: fc.constantFrom(null, 0, 1, 2, 3, 5, 8),
  keys: fc.array(fc.nat(4), { minLength: 1, maxLength: 4 }),
  missing: fc.constantFrom(0, 0, 0, 1, 2, 5),
});
const step = fc.oneof(
  { weight: 14, arbitrary: fc.record({ do: fc.constant('bring up'), failing: fc.constantFrom(null, null, 1, 2, 3) }) },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('answer'),
      effect: fc.nat(3),
      how: fc.constantFrom('full', 'full', 'full', 'full', 'part', 'none', 'doubled', 'rejected'),
      seen: fc.constantFrom('alive', 'alive', 'gone'),
      link: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('report'),
      instance: fc.nat(5),
      kind: fc.constantFrom('register', 'register', 'alive', 'leaving'),
      boot: fc.constantFrom('own', 'own', 'another'),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant('process'),
      instance: fc.nat(8),
      how: fc.constantFrom(
        'goes on',
        'goes on',
        'goes on',
        'stale',
        'stale',
        'stale',
        'fails',
        'dies',
        'stops',
        'closes',
      ),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('interrupt'),
      instance: fc.nat(8),
      inMs: fc.constantFrom(0, 5_000, 20_000),
    }),
  },
  { weight: 20, arbitrary: words },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('unanswered'),
      ms: fc.constantFrom(25_000, 100_000, 249_999, 250_000, 250_000),
      answers: fc.boolean(),
    }),
  },
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constant('drained'),
      drain: fc.nat(7),
      outcome: fc.constantFrom('drained', 'kept', 'kept', 'deadline', 'unknown'),
    }),
  },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('scale'), to: fc.integer({ min: 1, max: 6 }) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('adapt'),
      range: fc.constantFrom(null, [0, 3], [0, 8], [1, 4], [1, 8], [2, 2], [3, 6]),
    }),
  },
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constant('send away'),
      adaptive: fc.boolean(),
      next: fc.constantFrom('drained', 'kept', 'kept', 'kept too late', 'dies', 'stops', 'nothing'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('keepalive'), ms: fc.constantFrom(null, null, 90_000, 200_000) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop') }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('outage'), after: fc.constantFrom('report', 'quiet', 'nothing') }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant('live'),
      ms: fc.constantFrom(1_000, 20_000, 50_000, 61_000, 76_000, 120_000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(1_000, 61_000, 700_000) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('wait for wake') }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('continue as new') }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const daskPlan = fc.record({
  instances: fc.integer({ min: 1, max: 5 }),
  up: fc.constantFrom('all', 'all', 'all', 'one fails', 'none'),
  noClientTimeoutMs: fc.constantFrom(null, null, 300_000),
  maxLifetimeMs: fc.constantFrom(null, null, 300_000),
  steps: fc.array(step, { minLength: 4, maxLength: 16, size: 'max' }),
  end: fc.constantFrom('stop', 'calm', 'idle', 'no client', 'forgotten', 'gone'),
});
type DaskPlan = typeof daskPlan extends fc.Arbitrary<infer T> ? T : never;

function runDaskSimulation(rules: DaskRules, plan: DaskPlan, met: Met<DaskSubject>): void {
  const { noClientTimeoutMs, maxLifetimeMs } = plan;
  const settings: DaskSettings = { ...daskSettings, noClientTimeoutMs, maxLifetimeMs };
  const sim: DaskSimulation = {
    rules,
    settings,
    state: rules.createClusterState(
      { number: 1, workspace: 'w', user: 'u', createdAtMs: bornAtMs },
      daskClusterSettings(plan.instances, settings),
    ),
    heard: new Map(),
    nowMs: bornAtMs,
    effects: [],
    born: 0,
    books: openBooks(settings),
    met,
  };
  decide(sim);
  if (plan.up !== 'none') bringUp(sim, plan.up === 'one fails' ? 1 : null);
  for (const each of plan.steps) {
    take(sim, each);
    checkNow(sim);
    decide(sim);
  }
  endGame(sim, plan.end);
}

function take(sim: DaskSimulation, each: Step): void {
  const { rules, state, books } = sim;
  if (each.do === 'bring up') return bringUp(sim, each.failing);
  if (each.do === 'interrupt') {
    const instance = pick(state.instances, each.instance);
    return instance === undefined ? undefined : interrupt(sim, instance, each.inMs);
  }
  if (each.do === 'scheduler') return reportScheduler(sim, each);
  if (each.do === 'unanswered') {
    reportUnanswered(sim, each.ms);
    if (each.answers) reportUnanswered(sim, null);
    return;
  }
  if (each.do === 'drained') {
    // Half of the outcomes are for any earlier drain, the other half for an open one.
    const open = books.drains.filter((drain) => drain.outcome === null);
    const drain = pick(each.drain % 2 === 0 || open.length === 0 ? books.drains : open, each.drain);
    return drain === undefined ? undefined : reportDrained(sim, drain.id, each.outcome);
  }
  if (each.do === 'process') {
    const instance = pick(state.instances, each.instance);
    // Only half of the head's failures are applied: with all of them, most simulations would end early.
    if (instance !== undefined && (instance.slot > 0 || each.instance % 2 === 0))
      reportProcess(sim, instance, each.how);
    return;
  }
  if (each.do === 'answer') {
    const effect = pick(sim.effects, each.effect);
    if (effect?.kind === 'launch') return launched(sim, effect, each.how);
    if (effect?.kind === 'terminate') return terminated(sim, effect);
    return effect === undefined ? undefined : inspected(sim, effect, each.seen, each.link);
  }
  if (each.do === 'report') {
    const instance = pick(state.instances, each.instance);
    const boot = instance?.agent === null ? 'own' : each.boot;
    if (instance !== undefined) sendReport(sim, instance, each.kind, {}, `${boot}-${instance.id}`);
    return;
  }
  if (each.do === 'scale') return scale(sim, each.to);
  if (each.do === 'adapt') {
    const [minimum = 0, maximum = 0] = each.range ?? [];
    return adapt(sim, each.range === null ? null : between(minimum, maximum));
  }
  if (each.do === 'keepalive') {
    books.noClientTimeoutMs = each.ms ?? books.noClientTimeoutMs;
    if (books.noClientSinceMs !== null) books.noClientSinceMs = sim.nowMs;
    return note(sim, 'input', (to) => rules.keepAlive(to, each.ms, sim.nowMs));
  }
  if (each.do === 'stop') {
    if (state.stopRequested === null) sim.met('stop');
    const reason = { code: 'STOPPED', text: 'requested by a user', atMs: sim.nowMs };
    return note(sim, 'asked', (to) => rules.stopCluster(to, reason));
  }
  if (each.do === 'send away') return sendAway(sim, each.adaptive, each.next);
  if (each.do === 'outage') return outage(sim, each.after);
  if (each.do === 'live') return live(sim, each.ms);
  if (each.do === 'wait') {
    sim.nowMs += each.ms;
    return;
  }
  if (each.do === 'wait for wake') {
    sim.nowMs = rules.planCluster(state, sim.nowMs).wakeAtMs ?? sim.nowMs;
    return;
  }
  // Continue-as-new: the state after a round trip through JSON is the same, with the same plan. Planning changes nothing.
  const copy: ClusterState = JSON.parse(JSON.stringify(state));
  must(same(rules.planCluster(copy, sim.nowMs), rules.planCluster(state, sim.nowMs)), () => 'JSON changes the plan');
  must(same(copy, state), () => 'planning changed the state');
  must(same(Object.keys(copy), Object.keys(state)), () => 'the state is not plain JSON');
  sim.state = copy;
}
