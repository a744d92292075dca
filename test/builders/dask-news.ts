// How a simulated Dask cluster hears of things: everything is told twice, and some of it again when it is long out of date.
import type { LaunchOutcome, Report } from '../../domain/cluster/apply.ts';
import type { DaskReport } from '../../domain/cluster/dask/report.ts';
import type { ClusterInstance, ClusterState, DrainOutcome, ProcessState } from '../../domain/cluster/state.ts';
import { checkNow, decide } from './dask-checks.ts';
import {
  type DaskWorld,
  type Effect,
  hasStarted,
  headOf,
  heardOf,
  isLive,
  noteApiHeard,
  noteHeadHeard,
  quiet,
} from './dask-books.ts';
import { type Cause, watchScaling } from './dask-scaling.ts';
import { must, pick } from './worlds.ts';

/** News told twice is the same as news told once; the log of events alone may be longer. */
export function note(world: DaskWorld, cause: Cause, apply: (to: ClusterState) => void): void {
  watchScaling(world, cause, () => apply(world.state));
  checkNow(world);
  const once = quiet(world.state);
  apply(world.state);
  must(once === quiet(world.state), () => 'the same news told twice made a difference');
}

/** True when the report was accepted, as it must be exactly from an instance that we know and did not end. */
export function tell(
  world: DaskWorld,
  instance: ClusterInstance,
  kind: Report['kind'],
  news: DaskReport & Pick<Report, 'interruption'> = {},
  bootId = `own-${instance.id}`,
): boolean {
  const isOurs = instance.state === 'starting' ? kind === 'register' : instance.agent?.bootId === bootId;
  const expected = isLive(instance) && isOurs;
  const before = expected ? '' : quiet(world.state);
  const isLeaving = Boolean(instance.agent?.drain) || world.books.interrupted.has(instance.id);
  // Its slot may come to have fewer: good work ends a row of them.
  const failed = (): string => (isLeaving ? JSON.stringify(world.state.failures) : '');
  const failures = failed();
  if (expected && kind !== 'leaving' && instance.role === 'head') noteHeadHeard(world);
  if (expected) noteApiHeard(world, instance.id);
  let verdict = '';
  note(world, 'news', (to) => {
    verdict = world.rules.applyReport(to, { instance: instance.id, bootId, kind, address: 'a', ...news }, world.nowMs);
  });
  must((verdict === 'accepted') === expected, () => `${kind} of ${instance.id} was ${verdict}`);
  must(expected || before === quiet(world.state), () => 'a refused report changed the state');
  must(failures === failed(), () => 'a worker that was sent away counts as a failure');
  return expected;
}

const ranks: Record<ProcessState, number> = { pending: 0, starting: 1, started: 2, stopping: 3, stopped: 4, error: 4 };
const order = ['pending', 'starting', 'started', 'stopping'] as const;

/** A Dask process goes its way; `stale` repeats an earlier stage of it, `late` news that come after its end. */
export function tellProcess(world: DaskWorld, instance: ClusterInstance, how: string): void {
  const before = instance.agent?.process?.state ?? null;
  const at = before === null ? -1 : ranks[before];
  if (how === 'stale' && at < 1) return;
  if (how === 'stale') world.met('stale news');
  if (how === 'fails' && at >= ranks.started) return;
  const next = how === 'stale' ? order[Math.max(0, Math.min(at, 3) - 1)] : order[Math.min(at + 1, 2)];
  const ends: Record<string, { state: ProcessState; code: string | null }> = {
    fails: { state: 'error', code: 'ENVIRONMENT_FAILED' },
    dies: { state: 'error', code: 'PROCESS_EXITED' },
    stops: { state: 'stopped', code: null },
    closes: { state: 'stopping', code: null },
  };
  // No worker is there before its scheduler.
  if (how === 'goes on' && next === 'started' && instance.role === 'worker' && !world.books.schedulerStarted) return;
  const { state, code } = ends[how] ?? { state: next ?? 'pending', code: null };
  const name = instance.role === 'head' ? 'scheduler' : `worker-${instance.id}`;
  const reason = code === null ? null : { code, text: 'as it happens' };
  const address = state === 'started' ? `tls://${instance.id}` : null;
  const wasDraining = Boolean(instance.agent?.drain);
  if (!tell(world, instance, 'alive', { process: { state, name, stage: 'dask', address, reason } })) return;
  const after = instance.agent?.process?.state ?? 'pending';
  must(before === null || ranks[after] >= ranks[before], () => `a process went from ${before} back to ${after}`);
  if (how === 'fails' && code !== null) {
    world.met('environment failed');
    must(world.state.slots[instance.slot]?.givenUp?.code === code, () => 'an environment that failed is tried again');
  }
  if (how === 'dies' || how === 'stops') {
    must(instance.state === 'error', () => `${instance.id} has no process and goes on`);
    world.met(wasDraining ? 'drain undone by a loss' : 'process lost');
  }
}

/** Its cloud takes a worker back: its slot is for another from now on, and it is emptied while there is time. */
export function interrupt(world: DaskWorld, instance: ClusterInstance, inMs: number): void {
  const { state, books, nowMs } = world;
  if (instance.role === 'head' || instance.state !== 'ready') return;
  const atMs = books.interrupted.get(instance.id) ?? nowMs + inMs;
  books.interrupted.set(instance.id, Math.max(atMs, nowMs));
  const { target } = state;
  const interruption = { kind: 'terminate', at: new Date(atMs).toISOString() } as const;
  if (!tell(world, instance, 'alive', { interruption })) books.interrupted.delete(instance.id);
  else world.met('interrupted');
  must(state.target === target, () => 'more or fewer are wanted because one is taken back');
}

export interface SchedulerWords {
  clients: number;
  idleForMs: number | null;
  target: number | null;
  /** Running keys by worker, round and round. */
  keys: number[];
  /** A bit for each worker that the scheduler has lost sight of. */
  missing: number;
}

export function tellScheduler(world: DaskWorld, { clients, idleForMs, target, keys, missing }: SchedulerWords): void {
  const { state, books, nowMs } = world;
  const head = headOf(state);
  if (head === undefined || head.agent === null) return;
  const workers = state.instances
    .filter((instance) => instance.role === 'worker' && hasStarted(instance))
    .filter((_, index) => (missing >> index) % 2 === 0)
    .map((instance, index) => ({
      name: instance.agent?.process?.name ?? '',
      status: 'running',
      processing: pick(keys, index) ?? 0,
    }));
  const known = new Set(workers.map((worker) => worker.name));
  const vanished = state.instances.filter(
    (each) =>
      each.state === 'ready' &&
      each.agent.drain === null &&
      each.suspicion === null &&
      !known.has(each.agent.process?.name ?? '') &&
      state.dask?.report?.workers.some((worker) => worker.name === each.agent.process?.name),
  );
  const sinceMs = idleForMs === null ? null : Math.max(head.agent?.registeredAtMs ?? 0, nowMs - idleForMs);
  books.idleSinceMs = sinceMs;
  books.noClientSinceMs = clients > 0 ? null : (books.noClientSinceMs ?? nowMs);
  books.targets.push({ atMs: nowMs, workers: target });
  const tasks = { processing: 0, waiting: 0, memory: 0, erred: 0, noWorker: 0 };
  const idle = sinceMs === null ? null : nowMs - sinceMs;
  const accepted = tell(world, head, 'alive', {
    scheduler: { tasks, clients, idleForMs: idle, adaptiveTarget: target, workers },
  });
  must(accepted, () => 'the scheduler was not heard');
  for (const instance of vanished) {
    world.met('worker vanished');
    must(
      instance.state === 'ready' && instance.suspicion !== null,
      () => `${instance.id} has vanished, and nobody looks`,
    );
  }
}

/** The head's agent says that its scheduler does not answer, and for how long, or that it does again. */
export function tellUnanswered(world: DaskWorld, unansweredForMs: number | null): void {
  const { state, books } = world;
  const head = headOf(state);
  if (head === undefined || !hasStarted(head)) return;
  const newest = () => state.events.findLast(({ code }) => code.startsWith('SCHEDULER_'));
  const before = newest();
  const isChange = (books.unansweredForMs === null) !== (unansweredForMs === null);
  if (isChange) world.met(unansweredForMs === null ? 'answers again' : 'unresponsive');
  books.unansweredForMs = unansweredForMs;
  must(tell(world, head, 'alive', { unansweredForMs }), () => 'the head was not heard');
  must((newest() !== before) === isChange, () => 'an event too many, or none, of an answer that came or stayed out');
}

/** The head's agent says how a drain went: any that was ever ordered, at any time, and again. */
export function tellDrained(world: DaskWorld, id: number, outcome: DrainOutcome): void {
  const { state, books } = world;
  const head = headOf(state);
  const drain = books.drains.find((each) => each.id === id);
  if (head === undefined || head.agent === null || drain === undefined) return;
  const instance = state.instances.find((each) => each.agent?.drain?.id === drain.id);
  const isOpen = drain.outcome === null && instance !== undefined && instance.state === 'ready';
  const mayStay = books.adaptive === null || state.target - 1 < books.adaptive.maximum;
  const stays =
    isOpen &&
    outcome === 'kept' &&
    instance.agent?.drain?.adaptive === true &&
    !books.interrupted.has(instance.id) &&
    (instance.slot < state.target || mayStay);
  const target = state.target;
  if (!tell(world, head, 'alive', { drained: [{ id: drain.id, outcome }] })) return;
  drain.outcome ??= outcome;
  if (!isOpen) world.met('late outcome');
  if (stays) {
    world.met('worker kept');
    must(!instance.agent?.drain && instance.slot < state.target, () => `${instance.id} was kept, and goes`);
    must(state.target <= target + 1, () => 'one was kept, and more are wanted');
  } else {
    must(state.target === target, () => `a drain that is no use moved the target to ${state.target}`);
  }
}

export function launched(world: DaskWorld, effect: Extract<Effect, { kind: 'launch' }>, how: string): void {
  finish(world, effect);
  const count = { part: effect.slots.length - 1, none: 0, rejected: 0 }[how] ?? effect.slots.length;
  const slots = effect.slots.slice(0, count).map((each) => each.slot);
  if (how === 'doubled' && slots[0] !== 0) slots.push(slots[0] ?? 0);
  const missing = effect.slots.length - count;
  const scope = how === 'rejected' ? ('request' as const) : ('offer' as const);
  const failure = {
    offer: 'local',
    zone: 'here',
    market: 'spot' as const,
    code: 'NO',
    scope,
    text: 'no',
    count: missing,
  };
  const news: LaunchOutcome = {
    launched: slots.map((slot) => ({ id: `i_${(world.born += 1)}`, slot, offer: 'local', zone: 'here' })),
    failures: missing > 0 ? [failure] : [],
  };
  note(world, 'news', (to) => world.rules.applyLaunch(to, effect.seq, news, world.nowMs));
}

export function terminated(world: DaskWorld, effect: Extract<Effect, { kind: 'terminate' }>): void {
  finish(world, effect);
  note(world, 'news', (to) => world.rules.applyTerminated(to, effect.ids, world.nowMs));
}

export function inspected(
  world: DaskWorld,
  effect: Extract<Effect, { kind: 'inspect' }>,
  seen: 'alive' | 'gone',
  linkWorks: boolean,
): void {
  finish(world, effect);
  const heard = heardOf(world, effect.ids);
  const news = { seen: effect.ids.map((id) => ({ id, state: seen })), linkWorks, heard, listeningMs: 3_600_000 };
  note(world, 'news', (to) => world.rules.applyInspection(to, news, world.nowMs));
}

function finish(world: DaskWorld, effect: Effect): void {
  world.effects = world.effects.filter((each) => each !== effect);
}

/** All goes as it should for a while: launches succeed, agents register, processes start. At most one, the nth, does not. */
export function bringUp(world: DaskWorld, failing: number | null = null): void {
  for (const effect of world.effects) {
    if (effect.kind === 'launch') launched(world, effect, 'full');
    else if (effect.kind === 'terminate') terminated(world, effect);
    else inspected(world, effect, 'alive', true);
    decide(world);
  }
  for (const instance of world.state.instances.filter((each) => each.state === 'starting')) {
    tell(world, instance, 'register');
    decide(world);
  }
  const unlucky = failing === null ? undefined : world.state.instances[failing];
  if (unlucky?.state === 'ready') tellProcess(world, unlucky, 'fails');
  for (const instance of world.state.instances) {
    for (let stage = 0; stage < 3 && instance.state === 'ready' && !hasStarted(instance); stage += 1) {
      tellProcess(world, instance, instance.agent?.process?.state === 'stopping' ? 'stops' : 'goes on');
    }
    decide(world);
  }
}

/** Signs of life of everybody who lives: the API keeps them. */
export function breathe(world: DaskWorld): void {
  const alive = world.state.instances.filter((instance) => instance.state === 'ready');
  if (alive.some(({ role }) => role === 'head')) noteHeadHeard(world);
  for (const { id } of alive) noteApiHeard(world, id);
}

/** Time in which everybody says that they live. */
export function live(world: DaskWorld, ms: number): void {
  const endMs = world.nowMs + ms;
  while (world.nowMs < endMs) {
    breatheUntil(world, Math.min(endMs, world.nowMs + 3 * world.settings.aliveEveryMs - 1));
    decide(world);
  }
}

/** They say so in time, and nobody plans because of it. */
export function breatheUntil(world: DaskWorld, untilMs: number): void {
  while (world.nowMs < untilMs) {
    world.nowMs = Math.min(untilMs, world.nowMs + world.settings.aliveEveryMs);
    breathe(world);
  }
}

/** A person names the number of instances, and adaptive scaling is off from then on. */
export function scale(world: DaskWorld, instances: number): void {
  if (world.state.stopRequested === null) world.books.adaptive = null;
  note(world, 'asked', (to) => world.rules.scaleCluster(to, instances, world.nowMs));
  must(world.state.dask?.adaptive === null || world.state.stopRequested !== null, () => 'adaptive scaling goes on');
}

export function adapt(world: DaskWorld, adaptive: DaskWorld['books']['adaptive']): void {
  if (world.state.stopRequested === null) world.books.adaptive = adaptive;
  note(world, 'news', (to) => world.rules.adaptCluster(to, adaptive, world.nowMs));
}
