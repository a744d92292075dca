// One agent's exchange: results for leases. Work enters and leaves a job only here. The function is synchronous, never throws on an agent's input,
// and is safe against repeated, delayed or reordered requests: lease numbers only grow, a result counts only under its own live lease, and a repeated
// claim gets the same grant.
import { causeOf, noteCause } from './failure-groups.ts';
import { addLease, findLease, leasesOf } from './leases.ts';
import { maxIdleClaimMs, maxUnwrittenRecords, minIdleClaimMs } from './limits.ts';
import type { ExchangeAnswer, ExchangeItem, Grant, TaskResult } from './protocol.ts';
import { returnLeases, mayHold, mayHoldAnother, runsAlone } from './ahead.ts';
import { mayRetry } from './retry-rules.ts';
import {
  endLease,
  hasEnded,
  leasePeriodMs,
  loseLease,
  recordTask,
  requeue,
  settle,
  startOf,
  stopOrder,
} from './rules.ts';
import { mayRun, mayStart, skipTaken } from './placement.ts';
import { noteQueue } from './shrink.ts';
import type { JobInstance, JobState, Lease } from './state.ts';

/** Applies one item to the state, in place, and returns its answer. `taskIdAt` maps a task's index to its array id. */
export function exchange(
  state: JobState,
  item: ExchangeItem,
  nowMs: number,
  taskIdAt: (index: number) => number,
): ExchangeAnswer {
  const instance = touch(state, item.instance, nowMs);
  instance.head = item.head;
  const acknowledged = item.results.map((result) => takeResult(state, item.instance, instance, result, nowMs));
  returnLeases(state, item.instance, item.returned ?? []);
  const drop = [
    ...item.running.filter((number) => !renew(state, item.instance, number, nowMs)),
    ...(item.held ?? []).filter((number) => keep(state, item.instance, number, nowMs) === null),
  ];
  settle(state, nowMs);
  const mayClaim = stopOrder(state, instance) === null && item.want > 0 && mayStart(state);
  const grants = mayClaim ? claim(state, item, instance, nowMs) : [];
  // A claim that abandons a lease may have ended the last open task by its last permitted loss.
  settle(state, nowMs);
  noteQueue(state, nowMs);
  return {
    grants: grants.map((lease) => toGrant(lease, taskIdAt)),
    acknowledged,
    drop,
    stop: stopOrder(state, instance),
    retryAfterMs: mayStart(state) ? idleClaimMs(state) : Math.min(assemblyClaimMs, idleClaimMs(state)),
    renewWithinMs: renewWithinMs(state, item.instance),
    mayHold: mayHold(state),
    ...(state.settings.gang === true ? { gangSize: state.settings.instances } : {}),
  };
}

const idleClaimMs = ({ settings }: JobState): number =>
  Math.min(maxIdleClaimMs, Math.max(minIdleClaimMs, Math.floor(settings.leaseMs / 9)));

/** Interval of claims while the instances of a job that starts all at once gather, because the last one lets all others start. */
const assemblyClaimMs = 2_000;

function touch(state: JobState, id: string, nowMs: number): JobInstance {
  const known = state.instances[id];
  if (known !== undefined) {
    known.lastSeenMs = Math.max(known.lastSeenMs, nowMs);
    return known;
  }
  const fresh: JobInstance = { lastClaim: -1, lastSeenMs: nowMs, recorded: [], lost: false, head: false };
  state.instances[id] = fresh;
  return fresh;
}

/** Acknowledges every result, also a stale one, so the agent can forget it. */
function takeResult(state: JobState, id: string, instance: JobInstance, result: TaskResult, nowMs: number): number {
  const lease = findLease(state, id, result.lease);
  if (lease === undefined || lease.task !== result.task) {
    if (instance.recorded.includes(result.lease)) state.counters.repeated += 1;
    else state.counters.stale += 1;
    return result.lease;
  }
  if (!endLease(state, lease)) return result.lease;
  instance.recorded.push(lease.lease);
  if (hasEnded(state)) return result.lease;
  const failed = result.exitCode !== 0;
  const failures = (state.failures[lease.task] ?? 0) + 1;
  if (failed && failures <= state.settings.retries && mayRetry(state.settings.retryOn, result)) {
    state.failures[lease.task] = failures;
    state.counters.retried += 1;
    noteError(state, lease, result, nowMs);
    requeue(state, lease);
  } else {
    if (failed) noteError(state, lease, result, nowMs);
    recordTask(state, {
      task: lease.task,
      state: failed ? 'error' : 'done',
      attempt: lease.attempt,
      exitCode: result.exitCode,
      signal: result.signal,
      instance: id,
      startedAtMs: result.startedAtMs,
      endedAtMs: result.endedAtMs,
      reason: result.reason,
    });
  }
  return result.lease;
}

function noteError(state: JobState, lease: Lease, result: TaskResult, nowMs: number): void {
  const how = result.signal === null ? `exit code ${result.exitCode}` : `signal ${result.signal}`;
  const text = result.reason === null ? how : `${how}: ${result.reason}`;
  noteCause(state, causeOf(result), text, nowMs);
  state.recentErrors = [...state.recentErrors, { task: lease.task, attempt: lease.attempt, text, atMs: nowMs }].slice(
    -10,
  );
}

/** Null when the lease has ended or belongs to another instance: the agent must stop that work. */
function keep(state: JobState, id: string, number: number, nowMs: number): Lease | null {
  const lease = findLease(state, id, number);
  if (lease === undefined) return null;
  lease.heardAtMs = nowMs;
  lease.deadlineMs = nowMs + leasePeriodMs(state, lease);
  lease.extensions = 0;
  return lease;
}

function renew(state: JobState, id: string, number: number, nowMs: number): boolean {
  const lease = keep(state, id, number, nowMs);
  if (lease === null) return false;
  lease.startedAtMs ??= startOf(lease) ?? nowMs;
  delete lease.ahead;
  return true;
}

function claim(state: JobState, item: ExchangeItem, instance: JobInstance, nowMs: number): Lease[] {
  // A late copy of an earlier claim must get no tasks, because no agent would run them.
  if (item.claim < instance.lastClaim) return [];
  if (item.claim === instance.lastClaim) {
    return leasesOf(state, item.instance).filter((held) => held.claim === item.claim);
  }
  instance.lastClaim = item.claim;
  instance.recorded = [];
  requeueAbandoned(state, item, nowMs);
  if (state.page.length >= maxUnwrittenRecords) return [];
  const own = leasesOf(state, item.instance);
  if (own.some(({ task }) => runsAlone(state, task))) return [];
  const granted: Lease[] = [];
  while (granted.length < item.want) {
    const isFirst = own.length + granted.length === 0;
    if (!isFirst && !mayHoldAnother(state, own.length + granted.length)) break;
    const task = nextTask(state, isFirst, instance.head);
    if (task === null) break;
    const lease: Lease = {
      lease: state.nextLease,
      task,
      attempt: (state.attempts[task] ?? 0) + 1,
      instance: item.instance,
      claim: item.claim,
      grantedAtMs: nowMs,
      heardAtMs: nowMs,
      deadlineMs: nowMs + state.settings.leaseMs,
      startedAtMs: null,
      extensions: 0,
      ...(isFirst ? {} : ahead),
    };
    state.nextLease += 1;
    addLease(state, lease);
    state.startedAtMs ??= nowMs;
    granted.push(lease);
    if (runsAlone(state, task)) break;
  }
  return granted;
}

/** A third of the shortest lease period of the agent. */
function renewWithinMs(state: JobState, id: string): number {
  const periods = leasesOf(state, id).map((lease) => leasePeriodMs(state, lease));
  return Math.floor((periods.length === 0 ? state.settings.leaseMs : Math.min(...periods)) / 3);
}

const ahead = { ahead: true } as const;

/**
 * Ends abandoned leases. An agent makes a new claim only after the answer to its last one, so it knows all its leases; it will never finish a lease
 * that it neither runs nor has a result for.
 */
function requeueAbandoned(state: JobState, item: ExchangeItem, nowMs: number): void {
  const known = new Set([...item.running, ...(item.held ?? [])]);
  const abandoned = leasesOf(state, item.instance).filter(({ lease }) => !known.has(lease));
  for (const lease of abandoned) loseLease(state, lease, 'its agent no longer knew of it', nowMs);
}

function nextTask(state: JobState, isFirst: boolean, isHead: boolean): number | null {
  const { taskCount, headTasks } = state.settings;
  const at = state.requeued.findIndex((task) => mayRun(state, task, isHead));
  const again = state.requeued[at];
  if (again !== undefined && !isFirst && runsAlone(state, again)) return null;
  if (again !== undefined) {
    state.requeued.splice(at, 1);
    return again;
  }
  const fresh = state.nextFresh;
  // Where the head instance has its own tasks, fresh tasks are for the other instances.
  if (fresh >= taskCount || (headTasks !== undefined && isHead)) return null;
  state.nextFresh = skipTaken(state, fresh + 1);
  return fresh;
}

function toGrant(lease: Lease, taskIdAt: (index: number) => number): Grant {
  return { lease: lease.lease, task: lease.task, taskId: taskIdAt(lease.task), attempt: lease.attempt };
}
