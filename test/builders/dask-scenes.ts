// How a simulated Dask cluster settles or ends, from any state.
import { defaultWatchdogTimeoutMs } from '../../domain/liveness/limits.ts';
import { between, fewerAfterMs } from './dask-settings.ts';
import { agentRetryMs, type DaskSimulation, dueEnds, hasStarted, headOf } from './dask-books.ts';
import { decide } from './dask-checks.ts';
import {
  adapt,
  breathe,
  breatheUntil,
  bringUp,
  inspected,
  launched,
  live,
  note,
  reportDrained,
  scale,
  reportProcess,
  reportScheduler,
  terminated,
} from './dask-inputs.ts';
import { must } from './simulations.ts';

/** One worker fewer, by request or by Dask's own target, and the outcomes for the drained worker. */
export function sendAway(sim: DaskSimulation, isAdaptive: boolean, next: string): void {
  const { state } = sim;
  bringUp(sim);
  const workers = state.target - 1;
  if (isAdaptive) adapt(sim, between(0, Math.max(1, workers)));
  const words = { clients: 1, idleForMs: null, target: Math.max(0, workers - 1), keys: [0, 2, 1], missing: 0 };
  reportScheduler(sim, words);
  decide(sim);
  if (isAdaptive) {
    // Dask's targets fluctuate; the maximum within a minute counts.
    live(sim, fewerAfterMs / 2);
    reportScheduler(sim, { ...words, target: 0 });
    live(sim, fewerAfterMs / 2);
  } else scale(sim, Math.max(1, workers));
  decide(sim);
  const drain = sim.books.drains.at(-1);
  const leaving = state.instances.find((instance) => instance.agent?.drain?.id === drain?.id);
  if (drain === undefined || leaving === undefined || leaving.state !== 'ready') return;
  if (next === 'dies' || next === 'stops') reportProcess(sim, leaving, next);
  // No vacant slot remains for a worker that is kept.
  if (next === 'kept too late') adapt(sim, between(0, state.target - 1));
  if (next === 'drained' || next === 'kept') reportDrained(sim, drain.id, next);
  if (next === 'kept too late') reportDrained(sim, drain.id, 'kept');
}

/** The API is down while the cluster computes nothing and no client is connected. Then its agents are heard again, with or without a report. */
export function outage(sim: DaskSimulation, after: string): void {
  bringUp(sim);
  reportScheduler(sim, { clients: 0, idleForMs: 0, target: null, keys: [0], missing: 0 });
  decide(sim);
  const endMs = sim.nowMs + sim.settings.idleTimeoutMs + 1_000;
  while (sim.nowMs < endMs && sim.state.stopRequested === null) {
    for (const effect of sim.effects) {
      if (effect.kind === 'inspect') inspected(sim, effect, 'alive', false);
    }
    sim.nowMs = Math.min(endMs, decide(sim).wakeAtMs ?? endMs);
    decide(sim);
  }
  breathe(sim);
  decide(sim);
  if (after === 'report') reportScheduler(sim, { clients: 1, idleForMs: null, target: null, keys: [1], missing: 0 });
  if (after === 'quiet') live(sim, 2 * sim.settings.aliveEveryMs);
}

export function endGame(sim: DaskSimulation, how: string): void {
  if (how === 'calm') return calmDown(sim);
  if (how === 'idle' || how === 'no client') return waitAlive(sim, how);
  if (how === 'forgotten' || how === 'gone') return waitForgotten(sim, how);
  const reason = { code: 'STOPPED', text: 'requested by a user', atMs: sim.nowMs };
  sim.met('stop');
  note(sim, 'asked', (to) => sim.rules.stopCluster(to, reason));
  decide(sim);
  answerAll(sim);
  must(decide(sim).done, () => 'stopped, and not done');
}

function answerAll(sim: DaskSimulation): void {
  for (let round = 0; sim.effects.length > 0; round += 1) {
    must(round < 20, () => 'it never stops asking');
    for (const effect of sim.effects) {
      if (effect.kind === 'launch') launched(sim, effect, 'full');
      else if (effect.kind === 'terminate') terminated(sim, effect);
      else inspected(sim, effect, 'alive', true);
    }
    decide(sim);
  }
}

/** Nothing fails and a client computes: every slot then has its process, and no instance is being terminated. */
function calmDown(sim: DaskSimulation): void {
  const { rules } = sim;
  adapt(sim, null);
  for (let round = 0; round < 8; round += 1) {
    reportScheduler(sim, { clients: 1, idleForMs: null, target: null, keys: [1], missing: 0 });
    for (const drain of sim.books.drains.filter((each) => each.outcome === null)) {
      reportDrained(sim, drain.id, 'drained');
    }
    decide(sim);
    bringUp(sim);
    answerAll(sim);
    breathe(sim);
    // Long enough for every remaining drain and backoff.
    if (round < 7) sim.nowMs += 12_000;
    decide(sim);
  }
  const { state } = sim;
  if (state.stopRequested !== null) return must(state.instances.length === 0, () => 'stopped, and not done');
  for (let slot = 0; slot < state.target; slot += 1) {
    const here = state.instances.filter(
      (each) => each.slot === slot && hasStarted(each) && !sim.books.interrupted.has(each.id),
    );
    const isGivenUp = Boolean(state.slots[slot]?.givenUp);
    must(here.length === 1 || isGivenUp, () => `slot ${slot} is not filled: ${JSON.stringify(state)}`);
    must(
      here.every((instance) => !instance.agent?.drain),
      () => `slot ${slot} is still drained`,
    );
  }
  must(
    state.instances.every((instance) => instance.slot < state.target),
    () => 'an extra one stays',
  );
  must(rules.clusterStatus(state) === 'ready', () => `all have started, yet it is ${rules.clusterStatus(state)}`);
}

/** The cluster computes nothing, or no client connects, and all agents live on. The plan's own wake-ups must find the end. */
function waitAlive(sim: DaskSimulation, how: string): void {
  const { rules } = sim;
  if (how === 'no client') {
    sim.books.noClientTimeoutMs = 200_000;
    if (sim.books.noClientSinceMs !== null) sim.books.noClientSinceMs = sim.nowMs;
    note(sim, 'input', (to) => rules.keepAlive(to, 200_000, sim.nowMs));
  }
  let dueMs = Infinity;
  const hadEnded = sim.state.stopRequested !== null;
  const meanwhile = (): void => {
    bringUp(sim);
    breathe(sim);
    if (!isLinked(sim)) return;
    // Repeated reports of the same state restart neither wait.
    const idleForMs = dueMs === Infinity ? 0 : sim.nowMs - (sim.books.idleSinceMs ?? sim.nowMs);
    reportScheduler(sim, {
      clients: 0,
      idleForMs: how === 'idle' ? idleForMs : null,
      target: null,
      keys: [0],
      missing: 0,
    });
    decide(sim);
    if (dueMs < Infinity) return;
    // Until then a worker may still start.
    const ends = dueEnds(sim).filter((end) => end.code !== 'START_FAILED');
    dueMs = ends.reduce((first, end) => Math.min(first, end.atMs), Infinity);
  };
  stepToEnd(sim, meanwhile, (wakeAtMs) => breatheUntil(sim, wakeAtMs));
  const stop = sim.state.stopRequested;
  const isTimed =
    stop !== null && dueMs < Infinity && ['IDLE', 'NO_CLIENT', 'LIFETIME'].includes(stop.code) && !hadEnded;
  // After an outage, the workflow may take the head's first report for its first sign of life, although the API heard earlier ones.
  const latestMs = dueMs + (sim.books.headAgainMs > 0 ? agentRetryMs : 0);
  must(
    !isTimed || (stop.atMs >= dueMs && stop.atMs <= latestMs),
    () => `${stop?.code} at ${stop?.atMs}, due ${dueMs}, at the latest ${latestMs}`,
  );
}

/** The head's agent reports for a running scheduler. */
function isLinked({ state }: DaskSimulation): boolean {
  const head = headOf(state);
  return head !== undefined && hasStarted(head);
}

/** No agent is ever heard again. The provider reports the instances as terminated, at once or after their watchdog timeout. */
function waitForgotten(sim: DaskSimulation, how: string): void {
  const deadAtMs = how === 'gone' ? sim.nowMs : sim.nowMs + defaultWatchdogTimeoutMs;
  const meanwhile = (): void => {
    for (const effect of sim.effects) {
      if (effect.kind === 'launch') launched(sim, effect, 'full');
      else if (effect.kind === 'terminate') terminated(sim, effect);
      else inspected(sim, effect, sim.nowMs >= deadAtMs ? 'gone' : 'alive', how === 'gone');
      decide(sim);
    }
  };
  stepToEnd(sim, meanwhile, (wakeAtMs) => (sim.nowMs = wakeAtMs));
}

/** Advances only from one wake-up of the plan to the next. */
function stepToEnd(sim: DaskSimulation, meanwhile: () => void, pass: (wakeAtMs: number) => void): void {
  for (let wakes = 0; sim.state.stopRequested === null; wakes += 1) {
    must(wakes < 200, () => `it never ends: ${JSON.stringify(sim.state)}`);
    meanwhile();
    const { wakeAtMs } = decide(sim);
    if (sim.state.stopRequested !== null) break;
    if (wakeAtMs === null) return must(sim.books.everStarted, () => 'it sleeps forever');
    pass(wakeAtMs);
    decide(sim);
  }
  answerAll(sim);
  must(decide(sim).done, () => 'at its end, and not done');
}
