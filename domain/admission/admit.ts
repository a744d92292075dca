// Decides one request for a job or cluster: a repeat of an earlier request, an open job or cluster found by its name, a new one, or a refusal.
import type { Problem } from '../errors.ts';
import { exceeded, type Quota } from '../quota/usage.ts';
import { idempotencyTtlMs } from './limits.ts';
import { whyApproval, type ApprovalRule, type CostEstimate } from './approval.ts';
import {
  joinQueue,
  neverFits,
  queueFull,
  type AwaitedStatus,
  type NeededApproval,
  type QueueEntry,
  type QueueRequest,
} from './queue.ts';

export type AdmissionKind = 'job' | 'cluster';

export interface AdmissionRequest {
  admissionId: string;
  bodyHash: string;
  kind: AdmissionKind;
  /** Empty for a default name, which contains the number. */
  name: string;
  getOrCreate: boolean;
  /** The number of an open job or cluster of this name that is ending: this request may take its name. */
  instead?: number;
  /** For a job that retries failed tasks of another job: that job's number. Only one retry of a job may be open at a time. */
  retryOf?: number;
  instances: number;
  vcpus: number;
  estimate: CostEstimate;
  /** Set for a job that may wait in the queue instead of being refused. */
  queue?: QueueRequest;
}

/** An earlier answer to the same idempotency key. */
export interface EarlierAnswer {
  number: number;
  name: string;
  admissionId: string;
  bodyHash: string;
  atMs: number;
  named: boolean;
}

/** The open job or cluster that has the name. */
export interface NameOwner {
  number: number;
  kind: AdmissionKind;
  admissionId: string;
}

export interface AdmissionContext {
  earlier: EarlierAnswer | null;
  owner: NameOwner | null;
  /** The open job that retries the same failed tasks. */
  openRetry: number | null;
  quota: Quota;
  queue: QueueBook;
  /** Null when nothing needs an approval. */
  approval: ApprovalRule | null;
  /** The refusal of a new job or cluster by a used-up budget, or null. */
  refusal: Problem | null;
}

/** The state of the queue when a job joins it. */
export interface QueueBook {
  isFull: boolean;
  /** The jobs that requests wait for, by number; only those of the workspace. */
  awaited: ReadonlyMap<number, AwaitedStatus>;
}

export interface Found {
  number: number;
  name: string;
  admissionId: string;
  /** False for a retry of the admitted request itself: its caller may not have received the answer. */
  existing: boolean;
  /** True when it was found by its name, false when by an idempotency key. */
  named: boolean;
  /** Why a new job or cluster waits for an approval. */
  needsApproval?: string;
}

/** `found`: the answer; one found by its name is stored under the key. `create`: number, insert, and reserve unless it joins the queue. */
export type AdmissionDecision =
  | { found: Found; isRepeat: boolean }
  | { create: true; entry: QueueEntry | null }
  | { error: Problem };

/** Repeats are answered before names and limits are checked, because their request is already reserved. */
export function decideAdmission(
  { earlier, owner, openRetry, quota, queue, approval, refusal }: AdmissionContext,
  item: AdmissionRequest,
  nowMs: number,
): AdmissionDecision {
  if (earlier !== null && nowMs - earlier.atMs < idempotencyTtlMs && !isToBeReplaced(earlier, item)) {
    if (earlier.bodyHash !== item.bodyHash) return { error: keyReused };
    const { number, name, admissionId, named } = earlier;
    return { found: { number, name, admissionId, existing: admissionId !== item.admissionId, named }, isRepeat: true };
  }
  if (reservedName.test(item.name)) return { error: nameReserved };
  if (owner !== null && owner.number !== item.instead) {
    if (!item.getOrCreate || owner.kind !== item.kind) return { error: nameTaken(item.name, owner) };
    const { number, admissionId } = owner;
    return { found: { number, name: item.name, admissionId, existing: true, named: true }, isRepeat: false };
  }
  if (refusal !== null) return { error: refusal };
  if (openRetry !== null && item.retryOf !== undefined) return { error: beingRetried(item.retryOf, openRetry) };
  const why = whyApproval(approval, item.estimate);
  if (item.queue !== undefined || why !== null) {
    const needed = approval === null || why === null ? null : { why, expiresAtMs: nowMs + approval.timeoutMs };
    return decideQueued(quota, { book: queue, item, approval: needed });
  }
  const over = exceeded(quota, { running: 1, instances: item.instances, vcpus: item.vcpus });
  return over === null ? { create: true, entry: null } : { error: over };
}

function decideQueued(
  { workspace, user }: Quota,
  {
    book: { isFull, awaited },
    item,
    approval,
  }: { book: QueueBook; item: AdmissionRequest; approval: NeededApproval | null },
): AdmissionDecision {
  const never = neverFits(workspace.limits, user, item);
  if (never !== null) return { error: never };
  if (isFull) return { error: queueFull };
  const joined = joinQueue(item.queue ?? { priority: 0, after: [] }, (number) => awaited.get(number), approval);
  return 'error' in joined ? joined : { create: true, entry: joined.entry };
}

/** The name of a job or cluster that was created without one. */
export const defaultName = (kind: AdmissionKind, number: number): string => `${kind}-${number}`;

/** True when the key was answered with the ending job or cluster that this request replaces. */
const isToBeReplaced = (earlier: EarlierAnswer, item: AdmissionRequest): boolean =>
  item.instead !== undefined && earlier.number === item.instead && earlier.bodyHash === item.bodyHash;

/** Default names are reserved: a request could otherwise take the default name of a later number. */
const reservedName = /^(job|cluster)-[0-9]+$/;

const nameReserved: Problem = {
  code: 'VALIDATION',
  field: 'name',
  message: 'Names of the form job-12 and cluster-12 are reserved for jobs and clusters without a name of their own.',
  hint: 'Choose another name, or leave it out.',
};

const keyReused: Problem = {
  code: 'IDEMPOTENCY_MISMATCH',
  message: 'This Idempotency-Key was used within the last 24 hours for a different request body.',
  hint: 'Send a new key for a new request, or the same body to repeat the old one.',
};

const beingRetried = (number: number, by: number): Problem => ({
  code: 'CONFLICT',
  message: `The failed tasks of job ${number} are being run again by job ${by}, which is still open.`,
  hint: `Follow it with "ropewalk batch wait ${by}". To run them a second time anyway: --again, or "again": true.`,
});

const nameTaken = (name: string, { kind, number }: NameOwner): Problem => ({
  code: 'NAME_TAKEN',
  field: 'name',
  message: `The name ${JSON.stringify(name)} belongs to ${kind} ${number}, which is still open.`,
  hint: 'Choose another name, or end that one first.',
});
