// Changes of a job outside exchanges: elapsed time, lost instances, cancellations by users.
import { leasesOf } from './leases.ts';
import { maxLeaseExtensions, maxLostRemembered } from './limits.ts';
import type { Reason } from '../reason.ts';
import { earliest, type Wake } from '../wake.ts';
import { interruptLeases, loseLeases } from './ahead.ts';
import { cancelLease, hasEnded, settle } from './rules.ts';
import { nextShrinkMs } from './shrink.ts';
import type { JobState, Lease } from './state.ts';
import { arrayOf } from './stored-array.ts';

/** An instance with an expired lease: its cluster is asked to inspect it. */
export interface Suspect {
  instance: string;
  heardAtMs: number;
}

/**
 * Extends expired leases and asks the cluster to inspect their instances, because silence alone proves no loss. Silence ends a lease only after
 * `maxLeaseExtensions` periods in which *another agent* was heard, which proves that the API was reachable; an outage of the control plane therefore
 * ends no lease.
 */
export function expireLeases(state: JobState, nowMs: number): Suspect[] {
  const suspects = new Map<string, number>();
  const heard = newestHeard(state);
  const silent: Lease[] = [];
  for (const lease of state.leases.filter((held) => held.deadlineMs <= nowMs)) {
    const heardElsewhere = heard.id === lease.instance ? heard.otherMs : heard.atMs;
    // Each period needs its own proof: an agent that was heard before an outage of the API proves nothing about the outage.
    const periodFromMs = Math.max(lease.deadlineMs - state.settings.leaseMs, lease.heardAtMs + state.settings.leaseMs);
    const linkWorked = heardElsewhere > periodFromMs;
    if (linkWorked && lease.extensions >= maxLeaseExtensions) {
      silent.push(lease);
      continue;
    }
    if (linkWorked) lease.extensions += 1;
    lease.deadlineMs = nowMs + state.settings.leaseMs;
    suspects.set(lease.instance, lease.heardAtMs);
  }
  loseLeases(state, silent, 'the instance exists but was silent while others were heard', nowMs);
  settle(state, nowMs);
  return [...suspects].map(([instance, heardAtMs]) => ({ instance, heardAtMs }));
}

function newestHeard(state: JobState): { id: string; atMs: number; otherMs: number } {
  let newest = { id: '', atMs: -1, otherMs: -1 };
  for (const [id, instance] of Object.entries(state.instances)) {
    if (instance.lost) continue;
    if (instance.lastSeenMs > newest.atMs) newest = { id, atMs: instance.lastSeenMs, otherMs: newest.atMs };
    else if (instance.lastSeenMs > newest.otherMs) newest.otherMs = instance.lastSeenMs;
  }
  return newest;
}

/**
 * Keeps only the newest lost instances, because a job with spot instances may have tens of thousands. A forgotten instance whose agent sends an
 * exchange is a new one to the job; its cluster refuses it, and its old leases have ended.
 */
function forgetOldest(state: JobState): void {
  const lost = Object.entries(state.instances).filter(([, { lost: isLost }]) => isLost);
  const surplus = lost.length - maxLostRemembered;
  if (surplus <= 0) return;
  const oldest = lost.toSorted(([, a], [, b]) => a.lastSeenMs - b.lastSeenMs).slice(0, surplus);
  for (const [id] of oldest) delete state.instances[id];
}

export interface LostInstance {
  id: string;
  why: string;
  /** Stopped, released or interrupted: the tasks that ran on it cannot be the cause. */
  isOrderly: boolean;
}

/** Applies the loss of an instance: its leases end now, and its tasks run elsewhere. */
export function loseInstance(state: JobState, { id, why, isOrderly }: LostInstance, nowMs: number): void {
  const instance = state.instances[id];
  if (instance === undefined) {
    // Its first exchange may be under way. The current time keeps the entry from being the first one forgotten.
    state.instances[id] = { lastClaim: -1, lastSeenMs: nowMs, recorded: [], lost: true, head: false };
  } else {
    instance.lost = true;
  }
  forgetOldest(state);
  if (hasEnded(state)) return;
  const own = leasesOf(state, id);
  if (isOrderly) interruptLeases(state, own);
  else loseLeases(state, own, why, nowMs);
  settle(state, nowMs);
}

/**
 * Ends every open task at once. A reason with the code CANCELLED makes the job `cancelled`; any other (a timeout, no instances) makes it `error`. A
 * second call, or one after the end, changes nothing.
 */
export function cancelJob(state: JobState, reason: Reason): void {
  if (hasEnded(state)) return;
  state.cancelRequested = reason;
  for (const lease of [...state.leases]) cancelLease(state, lease, reason);
  cancelWaiting(state);
  settle(state, reason.atMs);
}

/** Tasks that never ran get no record of their own; the view states the reason. */
function cancelWaiting(state: JobState): void {
  state.counters.cancelled = state.settings.taskCount - state.counters.done - state.counters.error;
  state.requeued = [];
  state.nextFresh = state.settings.taskCount;
  delete state.skipped;
  state.attempts = {};
  state.failures = {};
  state.losses = {};
}

/** When the next lease or the job's time limit ends, or null. */
export function nextWakeMs(state: JobState): number | null {
  return earliest([nextTimeout(state), nextLeaseEnd(state)])?.atMs ?? null;
}

/** When elapsed time next changes the job, with the reason, or null. */
export function nextWake(state: JobState): Wake | null {
  const shrinkMs = nextShrinkMs(state);
  const shrink = shrinkMs === null ? null : { atMs: shrinkMs, what: 'release of idle instances at' };
  const lease = nextLeaseEnd(state);
  const next = earliest([lease, nextTimeout(state), shrink]);
  // Array syntax may be long, so it is parsed only when its text is shown.
  if (lease === null || next !== lease) return next;
  return { ...lease, what: `lease of task ${arrayOf(state.settings).idAt(lease.task)} is checked at` };
}

function nextTimeout(state: JobState): Wake | null {
  const atMs = hasEnded(state) ? null : timeoutAtMs(state);
  return atMs === null ? null : { atMs, what: 'job timeout at' };
}

function nextLeaseEnd(state: JobState): (Wake & { task: number }) | null {
  const [first] = state.leases;
  if (first === undefined || hasEnded(state)) return null;
  const { task, deadlineMs } = state.leases.reduce((a, b) => (b.deadlineMs < a.deadlineMs ? b : a), first);
  return { atMs: deadlineMs, what: 'lease is checked at', task };
}

/** When the job's time limit ends it; the limit counts from the first granted task. */
export function timeoutAtMs(state: JobState): number | null {
  const { jobTimeoutMs } = state.settings;
  return jobTimeoutMs === null || state.startedAtMs === null ? null : state.startedAtMs + jobTimeoutMs;
}
