// The queue: jobs and clusters that wait for an admin's approval, for other jobs to end, and then for room in the quota. A request that needs an
// approval, or names jobs to wait for or a priority, joins the queue; all other requests are admitted at once or refused.
import type { Problem } from '../errors.ts';
import { dependencyFailed as dependencyFailedCode } from '../job/retried-tasks.ts';
import { waitsForApproval } from './approval.ts';
import type { WorkspaceLimits } from '../quota/state.ts';
import { exceeded } from '../quota/usage.ts';
import { plural } from '../units.ts';

export const minPriority = -100;
export const maxPriority = 100;

/** Maximum number of jobs that one job may wait for: each is a row. */
export const maxAwaited = 1_000;

/** Maximum number of waiting jobs in a workspace: each is a row and a stored sealed bundle. */
export const maxWaitingJobs = 10_000;

export interface QueueRequest {
  /** From `minPriority` to `maxPriority`; the highest is admitted first. */
  priority: number;
  /** `needsSuccess`: the waiting job is cancelled unless the awaited job ends without a failed task. */
  after: readonly { number: number; needsSuccess: boolean }[];
}

/** Null while the job is open; its final status, such as `done`, when it has ended. */
export type AwaitedStatus = string | null;

export interface QueueEntry {
  waits: { number: number; needsSuccess: boolean }[];
  reason: { code: string; text: string };
  /** True for a job that can never start. */
  isRefused: boolean;
  /** Null when no approval is needed. */
  approval: NeededApproval | null;
}

export interface NeededApproval {
  why: string;
  expiresAtMs: number;
}

/** Returns how a new job joins the queue. `statusOf` returns undefined for a job that is not in the workspace. */
export function joinQueue(
  { after }: QueueRequest,
  statusOf: (number: number) => AwaitedStatus | undefined,
  approval: NeededApproval | null = null,
): { entry: QueueEntry } | { error: Problem } {
  const waits: QueueEntry['waits'] = [];
  for (const { number, needsSuccess } of after) {
    const status = statusOf(number);
    if (status === undefined) return { error: noSuchJob(number, needsSuccess ? 'afterOk' : 'after') };
    if (status === null) waits.push({ number, needsSuccess });
    else if (needsSuccess && status !== 'done') {
      return { entry: { waits: [], reason: dependencyFailed(number, status), isRefused: true, approval: null } };
    }
  }
  const reason = approval === null ? waitReason(waits) : waitsForApproval(approval.why, approval.expiresAtMs);
  return { entry: { waits, reason, isRefused: false, approval } };
}

/** The reason of a job that needs no approval or has received it. */
export const waitReason = (waits: QueueEntry['waits']): QueueEntry['reason'] =>
  waits.length > 0 ? waitsFor(waits) : waitsForRoom;

export const waitsFor = (waits: QueueEntry['waits']): QueueEntry['reason'] => {
  const named = waits
    .slice(0, 10)
    .map(({ number, needsSuccess }) => `job ${number}${needsSuccess ? ' (successfully)' : ''}`);
  const more = waits.length > named.length ? ` and ${waits.length - named.length} others` : '';
  return { code: 'WAITING_FOR_JOBS', text: `Starts after the end of ${named.join(', ')}${more}.` };
};

export const waitsForRoom = { code: 'WAITING_FOR_QUOTA', text: 'Starts when the quota has room for it.' };

export const dependencyFailed = (number: number, status: string): QueueEntry['reason'] => ({
  code: dependencyFailedCode,
  text: `Job ${number}, which had to succeed first, ended as ${status}.`,
});

/** A job that alone exceeds a limit would wait forever, so it is refused. */
export const neverFits = (
  limits: WorkspaceLimits,
  user: { name: string; limits: Partial<WorkspaceLimits> },
  job: { instances: number; vcpus: number },
): Problem | null => {
  const quota = { workspace: { use: none, limits }, user: { ...user, use: none } };
  return exceeded(quota, { running: 1, instances: job.instances, vcpus: job.vcpus });
};

export const queueFull: Problem = {
  code: 'LIMIT_EXCEEDED',
  message: `${plural(maxWaitingJobs, 'job')} of this workspace wait already, which is the most.`,
  hint: 'Wait until some of them have started, or cancel some.',
};

export interface ReadyJob {
  number: number;
  user: string;
  priority: number;
  instances: number;
  vcpus: number;
}

export interface QueueQuota {
  workspace: { use: WorkspaceLimits; limits: WorkspaceLimits };
  users: ReadonlyMap<string, { use: WorkspaceLimits; limits: Partial<WorkspaceLimits> }>;
}

export interface QueueRound<J> {
  admitted: J[];
  /** Users whose next job is held back only by their own quota. */
  held: ReadonlySet<string>;
  /** True when the workspace has no room for the next job: no later job is admitted. */
  isFull: boolean;
}

/**
 * Selects the jobs to admit now among those that wait only for room, by priority, then by number. A job for which the workspace has no room holds
 * back all jobs behind it, because small jobs could otherwise delay a large one forever. A job for which only its user has no room does not hold back
 * the jobs of other users.
 */
export function admitFromQueue<J extends ReadyJob>(
  ready: readonly J[],
  { workspace, users }: QueueQuota,
): QueueRound<J> {
  const admitted: J[] = [];
  let use = workspace.use;
  const own = new Map([...users].map(([name, each]) => [name, each.use]));
  const held = new Set<string>();
  for (const job of ready.toSorted((a, b) => b.priority - a.priority || a.number - b.number)) {
    if (held.has(job.user)) continue;
    const more = { running: 1, instances: job.instances, vcpus: job.vcpus };
    const user = { name: job.user, use: own.get(job.user) ?? none, limits: users.get(job.user)?.limits ?? {} };
    if (exceeded({ workspace: { use, limits: workspace.limits }, user: { ...user, limits: {} } }, more) !== null) {
      return { admitted, held, isFull: true };
    }
    if (exceeded({ workspace: { use, limits: workspace.limits }, user }, more) !== null) {
      held.add(job.user);
      continue;
    }
    admitted.push(job);
    use = sum(use, more);
    own.set(job.user, sum(user.use, more));
  }
  return { admitted, held, isFull: false };
}

const noSuchJob = (number: number, field: string): Problem => ({
  code: 'NOT_FOUND',
  field,
  message: `There is no job ${number} in this workspace.`,
  hint: '`ropewalk batch list` or GET /v1/jobs lists the ones there are.',
});

const none: WorkspaceLimits = { running: 0, instances: 0, vcpus: 0 };

const sum = (a: WorkspaceLimits, b: WorkspaceLimits): WorkspaceLimits => ({
  running: a.running + b.running,
  instances: a.instances + b.instances,
  vcpus: a.vcpus + b.vcpus,
});
