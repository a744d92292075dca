// The basic steps of every change of a job. Each preserves the invariant: a task is recorded, leased once, waiting for another attempt, or not begun.
import { lostCause, noteCause } from './failure-groups.ts';
import { removeLease } from './leases.ts';
import { lostAttemptsWindowMs, maxGrownLeaseMs, maxLostAttempts, maxLostAttemptsEver } from './limits.ts';
import type { Reason } from '../reason.ts';
import { instanceLost } from './protocol.ts';
import type { JobInstance, JobState, Lease, TaskRecord } from './state.ts';

export function hasEnded(state: JobState): boolean {
  return state.outcome !== null || state.cancelRequested !== null;
}

/** Tasks that have not ended and are not leased. */
export function countWaiting({ settings, counters, leases }: JobState): number {
  return settings.taskCount - counters.done - counters.error - counters.cancelled - leases.length;
}

/**
 * When the lease's command began, as far as the workflow knows: an agent begins at once with a lease that is not ahead of its turn. Null for a lease
 * that waits for its turn.
 */
export function startOf({ startedAtMs, grantedAtMs, ahead }: Lease): number | null {
  return startedAtMs ?? (ahead === true ? null : grantedAtMs);
}

/** Period of a lease after its agent was heard; it grows with the running time of its task. */
export function leasePeriodMs({ settings }: JobState, { startedAtMs, grantedAtMs, heardAtMs }: Lease): number {
  const ranMs = heardAtMs - (startedAtMs ?? grantedAtMs);
  return Math.max(settings.leaseMs, Math.min(maxGrownLeaseMs, Math.floor(ranMs / 4)));
}

/**
 * Removes a lease; the caller must then requeue or record its task. Returns false when the lease has already ended, and the task must then be left
 * alone.
 */
export function endLease(state: JobState, lease: Lease): boolean {
  return removeLease(state, lease);
}

/** Puts a task whose lease has just ended back in line. */
export function requeue(state: JobState, lease: Lease): void {
  if (hasEnded(state)) return;
  state.attempts[lease.task] = lease.attempt;
  state.requeued.push(lease.task);
  delete state.emptySinceMs;
}

/** Writes a task's only record, after its lease was ended; from then on the task cannot be leased again. */
export function recordTask(state: JobState, record: TaskRecord): void {
  state.counters[record.state] += 1;
  delete state.attempts[record.task];
  delete state.failures[record.task];
  delete state.losses[record.task];
  state.page.push(record);
}

/** Ends a lease and records its task as cancelled. */
export function cancelLease(state: JobState, lease: Lease, reason: Reason): void {
  if (!endLease(state, lease)) return;
  recordTask(state, {
    task: lease.task,
    state: 'cancelled',
    attempt: lease.attempt,
    exitCode: null,
    signal: null,
    instance: lease.instance,
    startedAtMs: startOf(lease),
    endedAtMs: reason.atMs,
    reason: reason.text,
  });
}

/** Ends a lease that its instance will not finish, for a reason unrelated to the task. */
export function interruptLease(state: JobState, lease: Lease): void {
  if (!endLease(state, lease)) return;
  state.counters.lost += 1;
  requeue(state, lease);
}

/** Ends a lease that its instance will not finish, for an unknown reason. A task that has lost too many instances fails. */
export function loseLease(state: JobState, lease: Lease, why: string, nowMs: number): void {
  if (!endLease(state, lease)) return;
  state.counters.lost += 1;
  const losses = [...(state.losses[lease.task] ?? []), nowMs];
  state.losses[lease.task] = losses;
  noteCause(state, lostCause, `lost with its instance: ${why}`, nowMs);
  const recent = losses.filter((atMs) => atMs > nowMs - lostAttemptsWindowMs).length;
  if (recent < maxLostAttempts && losses.length < maxLostAttemptsEver) {
    requeue(state, lease);
    return;
  }
  const reason = `lost with its instance ${losses.length} times; the last time: ${why}`;
  state.recentErrors = [
    ...state.recentErrors,
    { task: lease.task, attempt: lease.attempt, text: reason, atMs: nowMs },
  ].slice(-10);
  recordTask(state, {
    task: lease.task,
    state: 'error',
    attempt: lease.attempt,
    exitCode: null,
    signal: null,
    instance: lease.instance,
    startedAtMs: startOf(lease),
    endedAtMs: nowMs,
    reason,
  });
}

/** Sets the job's outcome as soon as no task is open. */
export function settle(state: JobState, nowMs: number): void {
  if (state.outcome !== null) return;
  const { done, error, cancelled } = state.counters;
  if (done + error + cancelled < state.settings.taskCount) return;
  state.endedAtMs = nowMs;
  state.outcome = { ...outcomeOf(state, nowMs) };
}

function outcomeOf(state: JobState, nowMs: number): { status: 'done' | 'error' | 'cancelled'; reason: Reason } {
  const { done, error, cancelled } = state.counters;
  if (cancelled > 0 && state.cancelRequested !== null) {
    return {
      status: state.cancelRequested.code === 'CANCELLED' ? 'cancelled' : 'error',
      reason: state.cancelRequested,
    };
  }
  if (error > 0) {
    const text = `${error} of ${state.settings.taskCount} tasks failed`;
    return { status: 'error', reason: { code: 'TASKS_FAILED', text, atMs: nowMs } };
  }
  if (cancelled > 0 && done === 0 && state.tasksCancelled !== undefined) {
    return { status: 'cancelled', reason: { ...state.tasksCancelled, code: 'CANCELLED' } };
  }
  if (cancelled > 0) {
    const text = `${done} tasks exited with 0, and ${cancelled} were cancelled`;
    return { status: 'done', reason: { code: 'OTHERS_CANCELLED', text, atMs: nowMs } };
  }
  const text = `all ${state.settings.taskCount} tasks exited with 0`;
  return { status: 'done', reason: { code: 'ALL_DONE', text, atMs: nowMs } };
}

/** The order for an agent without further work here. */
export function stopOrder(state: JobState, instance: JobInstance): { code: string; text: string } | null {
  if (state.cancelRequested !== null) return { code: 'JOB_OVER', text: state.cancelRequested.text };
  if (state.outcome !== null) return { code: 'JOB_OVER', text: state.outcome.reason.text };
  if (instance.lost) return { code: instanceLost, text: 'this instance was given up and its tasks went elsewhere' };
  if (instance.isReleased === true) return { code: 'NOT_NEEDED', text: 'no task waits for this instance any more' };
  return null;
}
