// The inputs of a simulated Dask cluster: each is applied twice, and some again when they are long out of date.
import type { LaunchOutcome, Report } from '../../domain/cluster/apply.ts';
import type { DaskReport } from '../../domain/cluster/dask/report.ts';
import type { ClusterInstance, ClusterState, DrainOutcome } from '../../domain/cluster/state.ts';
import type { ProcessState } from '../../domain/cluster/statuses.ts';
import { checkNow, decide } from './dask-checks.ts';
import {
  type DaskSimulation,
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
import { must, pick } from './simulations.ts';

/** An input applied twice has the effect of one; only the log of events may grow. */
export function note(sim: DaskSimulation, cause: Cause, apply: (to: ClusterState) => void): void {
  watchScaling(sim, cause, () => apply(sim.state));
  checkNow(sim);
  const once = quiet(sim.state);
  apply(sim.state);
  must(once === quiet(sim.state), () => 'a repeated input changed the state');
}

/** Returns whether the report was accepted. Only reports of known instances that were not terminated may be accepted. */
export function sendReport(
  sim: DaskSimulation,
  instance: ClusterInstance,
  kind: Report['kind'],
  more: DaskReport & Pick<Report, 'interruption'> = {},
  bootId = `own-${instance.id}`,
): boolean {
  const isOurs = instance.state === 'starting' ? kind === 'register' : instance.agent?.bootId === bootId;
  const expected = isLive(instance) && isOurs;
  const before = expected ? '' : quiet(sim.state);
  const isLeaving = Boolean(instance.agent?.drain) || sim.books.interrupted.has(instance.id);
  // The slot may have fewer failures afterwards, because good work ends a failure streak.
  const failed = (): string => (isLeaving ? JSON.stringify(sim.state.failures) : '');
  const failures = failed();
  if (expected && kind !== 'leaving' && instance.role === 'head') noteHeadHeard(sim);
  if (expected) noteApiHeard(sim, instance.id);
  let verdict = '';
  note(sim, 'input', (to) => {
    verdict = sim.rules.applyReport(to, { instance: instance.id, bootId, kind, address: 'a', ...more }, sim.nowMs);
  });
  must((verdict === 'accepted') === expected, () => `${kind} of ${instance.id} was ${verdict}`);
  must(expected || before === quiet(sim.state), () => 'a refused report changed the state');
  must(failures === failed(), () => 'a worker that was sent away counts as a failure');
  return expected;
}

const ranks: Record<ProcessState, number> = { pending: 0, starting: 1, started: 2, stopping: 3, stopped: 4, error: 4 };
const order = ['pending', 'starting', 'started', 'stopping'] as const;

/** Advances a Dask process; `stale` repeats an earlier stage, `late` sends a report after its end. */
export function reportProcess(sim: DaskSimulation, instance: ClusterInstance, how: string): void {
  const before = instance.agent?.process?.state ?? null;
  const at = before === null ? -1 : ranks[before];
  if (how === 'stale' && at < 1) return;
  if (how === 'stale') sim.met('stale report');
  if (how === 'fails' && at >= ranks.started) return;
  const next = how === 'stale' ? order[Math.max(0, Math.min(at, 3) - 1)] : order[Math.min(at + 1, 2)];
  const ends: Record<string, { state: ProcessState; code: string | null }> = {
    fails: { state: 'error', code: 'ENVIRONMENT_FAILED' },
    dies: { state: 'error', code: 'PROCESS_EXITED' },
    stops: { state: 'stopped', code: null },
    closes: { state: 'stopping', code: null },
  };
  // No worker starts before its scheduler.
  if (how === 'goes on' && next === 'started' && instance.role === 'worker' && !sim.books.schedulerStarted) return;
  const { state, code } = ends[how] ?? { state: next ?? 'pending', code: null };
  const name = instance.role === 'head' ? 'scheduler' : `worker-${instance.id}`;
  const reason = code === null ? null : { code, text: 'as it happens' };
  const address = state === 'started' ? `tls://${instance.id}` : null;
  const wasDraining = Boolean(instance.agent?.drain);
  if (!sendReport(sim, instance, 'alive', { process: { state, name, stage: 'dask', address, reason } })) return;
  const after = instance.agent?.process?.state ?? 'pending';
  must(before === null || ranks[after] >= ranks[before], () => `a process went from ${before} back to ${after}`);
  if (how === 'fails' && code !== null) {
    sim.met('environment failed');
    must(sim.state.slots[instance.slot]?.givenUp?.code === code, () => 'an environment that failed is tried again');
  }
  if (how === 'dies' || how === 'stops') {
    must(instance.state === 'error', () => `${instance.id} has no process and goes on`);
    sim.met(wasDraining ? 'drain undone by a loss' : 'process lost');
  }
}

/** The cloud interrupts a worker: its slot is vacant from now on, and the worker is drained while there is time. */
export function interrupt(sim: DaskSimulation, instance: ClusterInstance, inMs: number): void {
  const { state, books, nowMs } = sim;
  if (instance.role === 'head' || instance.state !== 'ready') return;
  const atMs = books.interrupted.get(instance.id) ?? nowMs + inMs;
  books.interrupted.set(instance.id, Math.max(atMs, nowMs));
  const { target } = state;
  const interruption = { kind: 'terminate', at: new Date(atMs).toISOString() } as const;
  if (!sendReport(sim, instance, 'alive', { interruption })) books.interrupted.delete(instance.id);
  else sim.met('interrupted');
  must(state.target === target, () => 'the target changed because of an interruption');
}

export interface SchedulerWords {
  clients: number;
  idleForMs: number | null;
  target: number | null;
  /** Numbers of running keys, assigned to the workers in rotation. */
  keys: number[];
  /** One bit for each worker that the scheduler no longer lists. */
  missing: number;
}

export function reportScheduler(
  sim: DaskSimulation,
  { clients, idleForMs, target, keys, missing }: SchedulerWords,
): void {
  const { state, books, nowMs } = sim;
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
  const accepted = sendReport(sim, head, 'alive', {
    scheduler: { tasks, clients, idleForMs: idle, adaptiveTarget: target, workers },
  });
  must(accepted, () => 'the scheduler was not heard');
  for (const instance of vanished) {
    sim.met('worker vanished');
    must(instance.state === 'ready' && instance.suspicion !== null, () => `${instance.id} vanished unsuspected`);
  }
}

/** The head's agent reports that its scheduler is unresponsive and for how long, or that it responds again. */
export function reportUnanswered(sim: DaskSimulation, unansweredForMs: number | null): void {
  const { state, books } = sim;
  const head = headOf(state);
  if (head === undefined || !hasStarted(head)) return;
  const newest = () => state.events.findLast(({ code }) => code.startsWith('SCHEDULER_'));
  const before = newest();
  const isChange = (books.unansweredForMs === null) !== (unansweredForMs === null);
  if (isChange) sim.met(unansweredForMs === null ? 'answers again' : 'unresponsive');
  books.unansweredForMs = unansweredForMs;
  must(sendReport(sim, head, 'alive', { unansweredForMs }), () => 'the head was not heard');
  must((newest() !== before) === isChange, () => 'an event too many, or none, of an answer that came or stayed out');
}

/** The head's agent reports the outcome of any drain that was ever ordered, at any time, possibly again. */
export function reportDrained(sim: DaskSimulation, id: number, outcome: DrainOutcome): void {
  const { state, books } = sim;
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
  if (!sendReport(sim, head, 'alive', { drained: [{ id: drain.id, outcome }] })) return;
  drain.outcome ??= outcome;
  if (!isOpen) sim.met('late outcome');
  if (stays) {
    sim.met('worker kept');
    must(!instance.agent?.drain && instance.slot < state.target, () => `${instance.id} was kept, and goes`);
    must(state.target <= target + 1, () => 'one was kept, and more are wanted');
  } else {
    must(state.target === target, () => `a drain that is no use moved the target to ${state.target}`);
  }
}

export function launched(sim: DaskSimulation, effect: Extract<Effect, { kind: 'launch' }>, how: string): void {
  finish(sim, effect);
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
  const outcome: LaunchOutcome = {
    launched: slots.map((slot) => ({ id: `i_${(sim.born += 1)}`, slot, offer: 'local', zone: 'here' })),
    failures: missing > 0 ? [failure] : [],
  };
  note(sim, 'input', (to) => sim.rules.applyLaunch(to, effect.seq, outcome, sim.nowMs));
}

export function terminated(sim: DaskSimulation, effect: Extract<Effect, { kind: 'terminate' }>): void {
  finish(sim, effect);
  note(sim, 'input', (to) => sim.rules.applyTerminated(to, effect.ids, sim.nowMs));
}

export function inspected(
  sim: DaskSimulation,
  effect: Extract<Effect, { kind: 'inspect' }>,
  seen: 'alive' | 'gone',
  linkWorks: boolean,
): void {
  finish(sim, effect);
  const heard = heardOf(sim, effect.ids);
  const inspection = { seen: effect.ids.map((id) => ({ id, state: seen })), linkWorks, heard, listeningMs: 3_600_000 };
  note(sim, 'input', (to) => sim.rules.applyInspection(to, inspection, sim.nowMs));
}

function finish(sim: DaskSimulation, effect: Effect): void {
  sim.effects = sim.effects.filter((each) => each !== effect);
}

/** Launches succeed, agents register, processes start. At most one, the nth, fails. */
export function bringUp(sim: DaskSimulation, failing: number | null = null): void {
  for (const effect of sim.effects) {
    if (effect.kind === 'launch') launched(sim, effect, 'full');
    else if (effect.kind === 'terminate') terminated(sim, effect);
    else inspected(sim, effect, 'alive', true);
    decide(sim);
  }
  for (const instance of sim.state.instances.filter((each) => each.state === 'starting')) {
    sendReport(sim, instance, 'register');
    decide(sim);
  }
  const unlucky = failing === null ? undefined : sim.state.instances[failing];
  if (unlucky?.state === 'ready') reportProcess(sim, unlucky, 'fails');
  for (const instance of sim.state.instances) {
    for (let stage = 0; stage < 3 && instance.state === 'ready' && !hasStarted(instance); stage += 1) {
      reportProcess(sim, instance, instance.agent?.process?.state === 'stopping' ? 'stops' : 'goes on');
    }
    decide(sim);
  }
}

/** All live agents report; the API records when. */
export function breathe(sim: DaskSimulation): void {
  const alive = sim.state.instances.filter((instance) => instance.state === 'ready');
  if (alive.some(({ role }) => role === 'head')) noteHeadHeard(sim);
  for (const { id } of alive) noteApiHeard(sim, id);
}

/** Time passes in which all agents report. */
export function live(sim: DaskSimulation, ms: number): void {
  const endMs = sim.nowMs + ms;
  while (sim.nowMs < endMs) {
    breatheUntil(sim, Math.min(endMs, sim.nowMs + 3 * sim.settings.aliveEveryMs - 1));
    decide(sim);
  }
}

/** The agents report in time, and the cluster makes no plan because of it. */
export function breatheUntil(sim: DaskSimulation, untilMs: number): void {
  while (sim.nowMs < untilMs) {
    sim.nowMs = Math.min(untilMs, sim.nowMs + sim.settings.aliveEveryMs);
    breathe(sim);
  }
}

/** A user sets the number of instances, which turns adaptive scaling off. */
export function scale(sim: DaskSimulation, instances: number): void {
  if (sim.state.stopRequested === null) sim.books.adaptive = null;
  note(sim, 'asked', (to) => sim.rules.scaleCluster(to, instances, sim.nowMs));
  must(sim.state.dask?.adaptive === null || sim.state.stopRequested !== null, () => 'adaptive scaling goes on');
}

export function adapt(sim: DaskSimulation, adaptive: DaskSimulation['books']['adaptive']): void {
  if (sim.state.stopRequested === null) sim.books.adaptive = adaptive;
  note(sim, 'input', (to) => sim.rules.adaptCluster(to, adaptive, sim.nowMs));
}
