// How a simulated Dask cluster comes to rest or to its end, however its world has gone so far.
import { defaultWatchdogTimeoutMs } from '../../domain/liveness/limits.ts';
import { between, fewerAfterMs } from './dask-settings.ts';
import { agentRetryMs, type DaskWorld, dueEnds, hasStarted, headOf } from './dask-books.ts';
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
  tellDrained,
  scale,
  tellProcess,
  tellScheduler,
  terminated,
} from './dask-news.ts';
import { must } from './worlds.ts';

/** One worker fewer, by request or by Dask's own target, and what then becomes of the one that has to go. */
export function sendAway(world: DaskWorld, isAdaptive: boolean, next: string): void {
  const { state } = world;
  bringUp(world);
  const workers = state.target - 1;
  if (isAdaptive) adapt(world, between(0, Math.max(1, workers)));
  const words = { clients: 1, idleForMs: null, target: Math.max(0, workers - 1), keys: [0, 2, 1], missing: 0 };
  tellScheduler(world, words);
  decide(world);
  if (isAdaptive) {
    // Its targets jump about; the most of a minute counts.
    live(world, fewerAfterMs / 2);
    tellScheduler(world, { ...words, target: 0 });
    live(world, fewerAfterMs / 2);
  } else scale(world, Math.max(1, workers));
  decide(world);
  const drain = world.books.drains.at(-1);
  const leaving = state.instances.find((instance) => instance.agent?.drain?.id === drain?.id);
  if (drain === undefined || leaving === undefined || leaving.state !== 'ready') return;
  if (next === 'dies' || next === 'stops') tellProcess(world, leaving, next);
  // There is no room any more for one that comes back.
  if (next === 'kept too late') adapt(world, between(0, state.target - 1));
  if (next === 'drained' || next === 'kept') tellDrained(world, drain.id, next);
  if (next === 'kept too late') tellDrained(world, drain.id, 'kept');
}

/** Our API is down while it computes nothing, and nobody is connected; then its agents are heard again, with news or without. */
export function outage(world: DaskWorld, after: string): void {
  bringUp(world);
  tellScheduler(world, { clients: 0, idleForMs: 0, target: null, keys: [0], missing: 0 });
  decide(world);
  const endMs = world.nowMs + world.settings.idleTimeoutMs + 1_000;
  while (world.nowMs < endMs && world.state.stopRequested === null) {
    for (const effect of world.effects) {
      if (effect.kind === 'inspect') inspected(world, effect, 'alive', false);
    }
    world.nowMs = Math.min(endMs, decide(world).wakeAtMs ?? endMs);
    decide(world);
  }
  breathe(world);
  decide(world);
  if (after === 'news') tellScheduler(world, { clients: 1, idleForMs: null, target: null, keys: [1], missing: 0 });
  if (after === 'quiet') live(world, 2 * world.settings.aliveEveryMs);
}

export function endGame(world: DaskWorld, how: string): void {
  if (how === 'calm') return calmDown(world);
  if (how === 'idle' || how === 'nobody comes') return waitAlive(world, how);
  if (how === 'forgotten' || how === 'gone') return waitForgotten(world, how);
  const reason = { code: 'STOPPED', text: 'somebody asked for it', atMs: world.nowMs };
  world.met('stop');
  note(world, 'asked', (to) => world.rules.stopCluster(to, reason));
  decide(world);
  answerAll(world);
  must(decide(world).done, () => 'stopped, and not done');
}

function answerAll(world: DaskWorld): void {
  for (let round = 0; world.effects.length > 0; round += 1) {
    must(round < 20, () => 'it never stops asking');
    for (const effect of world.effects) {
      if (effect.kind === 'launch') launched(world, effect, 'full');
      else if (effect.kind === 'terminate') terminated(world, effect);
      else inspected(world, effect, 'alive', true);
    }
    decide(world);
  }
}

/** All goes well, somebody is there and computes: then every slot has its process, and nobody is on the way out. */
function calmDown(world: DaskWorld): void {
  const { rules } = world;
  adapt(world, null);
  for (let round = 0; round < 8; round += 1) {
    tellScheduler(world, { clients: 1, idleForMs: null, target: null, keys: [1], missing: 0 });
    for (const drain of world.books.drains.filter((each) => each.outcome === null)) {
      tellDrained(world, drain.id, 'drained');
    }
    decide(world);
    bringUp(world);
    answerAll(world);
    breathe(world);
    // Long enough for every drain and back-off that is left over.
    if (round < 7) world.nowMs += 12_000;
    decide(world);
  }
  const { state } = world;
  if (state.stopRequested !== null) return must(state.instances.length === 0, () => 'stopped, and not done');
  for (let slot = 0; slot < state.target; slot += 1) {
    const here = state.instances.filter(
      (each) => each.slot === slot && hasStarted(each) && !world.books.interrupted.has(each.id),
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

/** Nothing more is computed, or nobody connects; all agents live on. The plan's own wake-ups must find the end. */
function waitAlive(world: DaskWorld, how: string): void {
  const { rules } = world;
  if (how === 'nobody comes') {
    world.books.noClientTimeoutMs = 200_000;
    if (world.books.noClientSinceMs !== null) world.books.noClientSinceMs = world.nowMs;
    note(world, 'news', (to) => rules.keepAlive(to, 200_000, world.nowMs));
  }
  let dueMs = Infinity;
  const wasOver = world.state.stopRequested !== null;
  const meanwhile = (): void => {
    bringUp(world);
    breathe(world);
    if (!isLinked(world)) return;
    // It goes on saying so: neither wait begins anew with that.
    const idleForMs = dueMs === Infinity ? 0 : world.nowMs - (world.books.idleSinceMs ?? world.nowMs);
    tellScheduler(world, {
      clients: 0,
      idleForMs: how === 'idle' ? idleForMs : null,
      target: null,
      keys: [0],
      missing: 0,
    });
    decide(world);
    if (dueMs < Infinity) return;
    // Until then a worker may yet start.
    const ends = dueEnds(world).filter((end) => end.code !== 'START_FAILED');
    dueMs = ends.reduce((first, end) => Math.min(first, end.atMs), Infinity);
  };
  stepToEnd(world, meanwhile, (wakeAtMs) => breatheUntil(world, wakeAtMs));
  const stop = world.state.stopRequested;
  const isTimed =
    stop !== null && dueMs < Infinity && ['IDLE', 'NO_CLIENT', 'LIFETIME'].includes(stop.code) && !wasOver;
  // After an outage the workflow may take the head's first report for its first sign of life, which the API heard before.
  const latestMs = dueMs + (world.books.headAgainMs > 0 ? agentRetryMs : 0);
  must(
    !isTimed || (stop.atMs >= dueMs && stop.atMs <= latestMs),
    () => `${stop?.code} at ${stop?.atMs}, due ${dueMs}, at the latest ${latestMs}`,
  );
}

/** The head's agent speaks for a scheduler that runs. */
function isLinked({ state }: DaskWorld): boolean {
  const head = headOf(state);
  return head !== undefined && hasStarted(head);
}

/** Nobody is ever heard again; the provider finds them gone, at once or when they have ended for want of an answer. */
function waitForgotten(world: DaskWorld, how: string): void {
  const deadAtMs = how === 'gone' ? world.nowMs : world.nowMs + defaultWatchdogTimeoutMs;
  const meanwhile = (): void => {
    for (const effect of world.effects) {
      if (effect.kind === 'launch') launched(world, effect, 'full');
      else if (effect.kind === 'terminate') terminated(world, effect);
      else inspected(world, effect, world.nowMs >= deadAtMs ? 'gone' : 'alive', how === 'gone');
      decide(world);
    }
  };
  stepToEnd(world, meanwhile, (wakeAtMs) => (world.nowMs = wakeAtMs));
}

/** From one wake-up of the plan to the next, and never otherwise. */
function stepToEnd(world: DaskWorld, meanwhile: () => void, pass: (wakeAtMs: number) => void): void {
  for (let wakes = 0; world.state.stopRequested === null; wakes += 1) {
    must(wakes < 200, () => `it never ends: ${JSON.stringify(world.state)}`);
    meanwhile();
    const { wakeAtMs } = decide(world);
    if (world.state.stopRequested !== null) break;
    if (wakeAtMs === null) return must(world.books.everStarted, () => 'it sleeps for ever');
    pass(wakeAtMs);
    decide(world);
  }
  answerAll(world);
  must(decide(world).done, () => 'at its end, and not done');
}
