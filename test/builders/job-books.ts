// The books of a simulated job: derived from the exchanges and their answers alone, as simply as possible, and compared with the rules' own state
// after every step.
import type { ExchangeAnswer, ExchangeItem, TaskResult } from '../../domain/job/protocol.ts';
import { isFresh } from '../../domain/job/placement.ts';
import type { JobState, TaskRecord } from '../../domain/job/state.ts';
import { maxGrownLeaseMs, maxLeaseExtensions, maxLostAttempts } from '../../domain/job/limits.ts';
import { must, same } from './simulations.ts';

export interface OpenLease {
  task: number;
  instance: string;
  claim: number;
  attempt: number;
  /** Granted in addition to a running lease, and never reported as running. */
  ahead: boolean;
  running: boolean;
}

export interface JobBooks {
  open: Map<number, OpenLease>;
  newestLease: number;
  /** `alone`: the task was on a lost instance. */
  tasks: {
    failures: number;
    losses: number;
    /** Attempts that ended because their instance ended in order. */
    interruptions: number;
    alone: boolean;
    ended: 0 | 1 | 2 | 3;
    recorded: boolean;
  }[];
  retries: number;
  /** Leases that ended without a result: later messages about them are stale. */
  lostLeases: Set<number>;
  lastClaim: Map<string, number>;
  lostInstances: Set<string>;
  /** Instances that were released because no task waited for them. */
  isReleased: Set<string>;
  cancelled: boolean;
  written: TaskRecord[];
  outcome: string | null;
}

export function openBooks(tasks: number, retries: number): JobBooks {
  return {
    open: new Map(),
    newestLease: 0,
    tasks: Array.from({ length: tasks }, () => ({
      ...{ failures: 0, losses: 0, interruptions: 0, alone: false, ended: 0 as const, recorded: false },
    })),
    retries,
    lostLeases: new Set(),
    lastClaim: new Map(),
    lostInstances: new Set(),
    isReleased: new Set(),
    cancelled: false,
    written: [],
    outcome: null,
  };
}

export function isAllOver(books: JobBooks): boolean {
  return books.tasks.every((task) => task.ended !== 0);
}

/** A result counts only under its own live lease. */
export function isLive(books: JobBooks, instance: string, result: TaskResult): boolean {
  const lease = books.open.get(result.lease);
  return lease !== undefined && lease.instance === instance && lease.task === result.task;
}

/** Whether the item changes nothing: it has no live result, renews no lease and makes no new claim. */
export function isNoOp(books: JobBooks, item: ExchangeItem): boolean {
  const renews = item.running.some((lease) => books.open.get(lease)?.instance === item.instance);
  const claims = item.want > 0 && item.claim > (books.lastClaim.get(item.instance) ?? -1);
  const stopped = isSentAway(books, item.instance);
  const own = [...(item.held ?? []), ...(item.returned ?? [])];
  const moves = own.some((lease) => books.open.get(lease)?.instance === item.instance);
  return (
    !renews && !moves && (!claims || stopped) && item.results.every((result) => !isLive(books, item.instance, result))
  );
}

/** A lease that waited for its turn counts as no loss, unless its agent was present and did not know the lease. */
export function loseInBooks(books: JobBooks, lease: number, isForgotten = false): void {
  const held = books.open.get(lease);
  must(held !== undefined, () => `lease ${lease} ended twice`);
  books.open.delete(lease);
  books.lostLeases.add(lease);
  const task = taskOf(books, held.task);
  task.alone = true;
  if (held.ahead && !isForgotten) return;
  task.losses += 1;
  if (task.losses >= maxLostAttempts) end(task, 2);
}

/** An instance that ends in order is no failure of the task; a lease that had not begun costs no attempt. */
export function interruptInBooks(books: JobBooks, lease: number): void {
  const held = books.open.get(lease);
  must(held !== undefined, () => `lease ${lease} ended twice`);
  books.open.delete(lease);
  books.lostLeases.add(lease);
  if (!held.ahead) taskOf(books, held.task).interruptions += 1;
}

export function cancelInBooks(books: JobBooks): void {
  if (isAllOver(books)) return;
  books.cancelled = true;
  for (const { task } of books.open.values()) taskOf(books, task).recorded = true;
  for (const lease of books.open.keys()) books.lostLeases.add(lease);
  books.open.clear();
  for (const task of books.tasks) if (task.ended === 0) task.ended = 3;
}

/** Records an exchange and checks its answer. */
export function enterExchange(books: JobBooks, item: ExchangeItem, answer: ExchangeAnswer): void {
  for (const result of item.results) if (isLive(books, item.instance, result)) enterResult(books, result);
  must(
    same(
      answer.acknowledged,
      item.results.map((result) => result.lease),
    ),
    () => 'a result was not acknowledged',
  );
  enterReturns(books, item);
  const isOwn = (lease: number): boolean => books.open.get(lease)?.instance === item.instance;
  const dropped = [...item.running, ...(item.held ?? [])].filter((lease) => !isOwn(lease));
  for (const lease of item.running.filter(isOwn))
    Object.assign(books.open.get(lease) ?? {}, { ahead: false, running: true });
  must(same(answer.drop, dropped), () => `must drop ${String(dropped)}, had to drop ${String(answer.drop)}`);
  const stops = (): boolean => isSentAway(books, item.instance);
  if (stops() || item.want === 0) must(answer.grants.length === 0, () => 'a grant for an agent that gets none');
  else enterClaim(books, item, answer);
  must((answer.stop !== null) === stops(), () =>
    stops() ? 'gets no order to stop' : 'got an order to stop for no reason',
  );
}

const isSentAway = (books: JobBooks, id: string): boolean =>
  isAllOver(books) || books.lostInstances.has(id) || books.isReleased.has(id);

function enterResult(books: JobBooks, result: TaskResult): void {
  books.open.delete(result.lease);
  const task = taskOf(books, result.task);
  if (result.exitCode === 0) return end(task, 1);
  task.failures += 1;
  if (task.failures > books.retries) end(task, 2);
}

/** A lease that never began is requeued without a loss. */
function enterReturns(books: JobBooks, { instance, returned = [] }: ExchangeItem): void {
  for (const lease of returned) {
    const held = books.open.get(lease);
    if (held?.instance !== instance) continue;
    if (held.running) {
      interruptInBooks(books, lease);
      continue;
    }
    books.open.delete(lease);
    books.lostLeases.add(lease);
  }
}

function enterClaim(books: JobBooks, item: ExchangeItem, answer: ExchangeAnswer): void {
  const last = books.lastClaim.get(item.instance) ?? -1;
  const own = [...books.open].filter(([, lease]) => lease.instance === item.instance);
  if (item.claim <= last) {
    const again = own.filter(([, lease]) => lease.claim === item.claim && item.claim === last).map(([lease]) => lease);
    const granted = answer.grants.map((grant) => grant.lease);
    must(same(granted, again), () => `a repeated claim must get ${String(again)}, got ${String(granted)}`);
    return;
  }
  books.lastClaim.set(item.instance, item.claim);
  const known = [...item.running, ...(item.held ?? [])];
  for (const [lease] of own) if (!known.includes(lease)) loseInBooks(books, lease, true);
  const kept = own.filter(([lease]) => known.includes(lease)).map(([, lease]) => taskOf(books, lease.task));
  const leased = new Set([...books.open.values()].map((lease) => lease.task));
  const free = books.tasks.filter((task, index) => task.ended === 0 && !leased.has(index));
  const granted = answer.grants.map((grant) => taskOf(books, grant.task));
  const together = [...kept, ...granted];
  const most = Math.min(item.want, free.length);
  if (granted.length > 0) must(together.length === 1 || !together.some((task) => task.alone), () => 'not alone');
  const mayBeFewer = together.length > 0 && [...together, ...free].some((task) => task.alone);
  must(granted.length === most || (granted.length < most && mayBeFewer), () => `${most} to get, got ${granted.length}`);
  for (const grant of answer.grants) {
    const task = taskOf(books, grant.task);
    must(grant.lease > books.newestLease, () => `lease ${grant.lease} is not newer than ${books.newestLease}`);
    must(task.ended === 0 && !leased.has(grant.task), () => `task ${grant.task} was not free`);
    const behind = task.failures + task.losses + task.interruptions;
    must(grant.attempt === behind + 1, () => `attempt ${grant.attempt} of task ${grant.task}`);
    must(grant.taskId === taskIdAt(grant.task), () => `task ${grant.task} has the id ${grant.taskId}`);
    leased.add(grant.task);
    books.newestLease = grant.lease;
    books.open.set(grant.lease, {
      task: grant.task,
      instance: item.instance,
      claim: item.claim,
      attempt: grant.attempt,
      ahead: kept.length > 0 || grant !== answer.grants[0],
      running: false,
    });
  }
}

/** The array of every simulated job: ids 10, 12, 14 and so on. */
export function taskIdAt(index: number): number {
  return 10 + 2 * index;
}

/** Invariants at every moment. */
export function compareBooks(books: JobBooks, state: JobState, nowMs: number): void {
  const open = [...books.open].map(([lease, { task, instance, attempt, running }]) => [
    ...[lease, task, instance, attempt, running],
  ]);
  const leases = state.leases.map((held) => [
    held.lease,
    held.task,
    held.instance,
    held.attempt,
    held.startedAtMs !== null,
  ]);
  must(same(leases, open), () => `leases ${JSON.stringify(leases)} should be ${JSON.stringify(open)}`);
  must(new Set(leases.map(([, task]) => task)).size === leases.length, () => 'two live leases for one task');
  must(state.nextLease > books.newestLease, () => 'the next lease number is not new');
  const ended = books.tasks.map((task) => task.ended);
  const count = (code: number): number => ended.filter((each) => each === code).length;
  const { done, error, cancelled } = state.counters;
  must(same([done, error, cancelled], [count(1), count(2), count(3)]), () => 'the counters disagree with the tasks');
  for (const lease of state.leases) compareLease(books, lease, state.settings.leaseMs, nowMs);
  compareQueue(books, state);
  compareRecords(books, state);
  const { startedAtMs } = state;
  must((startedAtMs !== null) === books.newestLease > 0, () => 'a job starts with its first grant');
  must(startedAtMs === null || (startedAtMs >= state.submittedAtMs && startedAtMs <= nowMs), () => 'started when?');
  compareOutcome(books, state);
}

function compareLease(books: JobBooks, held: JobState['leases'][number], leaseMs: number, nowMs: number): void {
  must(held.extensions <= maxLeaseExtensions, () => `lease ${held.lease} was extended ${held.extensions} times`);
  // A lease may be extended by a quarter of the time for which its agent has been heard to hold it.
  const grownMs = (held.heardAtMs - held.grantedAtMs) / 4;
  const latestMs = Math.max(nowMs + leaseMs, held.heardAtMs + Math.min(grownMs, maxGrownLeaseMs));
  must(held.heardAtMs <= nowMs && held.deadlineMs <= latestMs, () => `lease ${held.lease} lies in the future`);
  const task = taskOf(books, held.task);
  must(task.losses < maxLostAttempts && task.failures <= books.retries, () => `task ${held.task} runs too often`);
}

/** Every open task is in exactly one place: leased, queued again, or not begun. */
function compareQueue(books: JobBooks, state: JobState): void {
  const leased = [...books.open.values()].map((lease) => lease.task);
  const fresh = books.tasks.map((_, index) => index).filter((index) => isFresh(state, index));
  const places = [...leased, ...state.requeued, ...fresh].toSorted((a, b) => a - b);
  const openTasks = books.tasks.flatMap((task, index) => (task.ended === 0 ? [index] : []));
  must(same(places, openTasks), () => `open tasks ${String(openTasks)} are kept at ${String(places)}`);
}

/** Each completed task has exactly one record, no other task has one, and written records never change. */
function compareRecords(books: JobBooks, state: JobState): void {
  const records = [...books.written, ...state.page];
  const codes = { done: 1, error: 2, cancelled: 3 } as const;
  must(new Set(records.map((record) => record.task)).size === records.length, () => 'a task was recorded twice');
  for (const record of records) {
    must(codes[record.state] === books.tasks[record.task]?.ended, () => `task ${record.task} has a false record`);
  }
  const expected = books.tasks.filter((task) => task.recorded).length;
  must(records.length === expected, () => `${records.length} records for ${expected} tasks that ended`);
}

function compareOutcome(books: JobBooks, state: JobState): void {
  must((state.outcome !== null) === isAllOver(books), () => 'an outcome exactly when no task is open');
  if (state.outcome === null) return;
  const failed = books.tasks.some((task) => task.ended === 2) ? 'error' : 'done';
  const cancelled = state.cancelRequested?.code === 'CANCELLED' ? 'cancelled' : 'error';
  const status = books.cancelled ? cancelled : failed;
  must(state.outcome.status === status, () => `outcome ${state.outcome?.status} should be ${status}`);
  const outcome = JSON.stringify([state.outcome, state.endedAtMs]);
  books.outcome ??= outcome;
  must(books.outcome === outcome, () => `the outcome changed from ${books.outcome} to ${outcome}`);
}

function end(task: JobBooks['tasks'][number], code: 1 | 2): void {
  must(task.ended === 0, () => 'a task ended twice');
  task.ended = code;
  task.recorded = true;
}

function taskOf(books: JobBooks, index: number): JobBooks['tasks'][number] {
  const task = books.tasks[index];
  must(task !== undefined, () => `there is no task ${index}`);
  return task;
}
