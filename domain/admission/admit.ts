// The decision about one request for a job or cluster: a repeat of an earlier request, an open one found by its name, a new one,
// or a refusal.
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
  /** Empty: named after its number. */
  name: string;
  getOrCreate: boolean;
  /** The number of an open one of this name that is ending: its name is free for this request. */
  instead?: number;
  /** Of a job: the job whose failed tasks it runs again, of which one may be open at a time. */
  retryOf?: number;
  instances: number;
  vcpus: number;
  estimate: CostEstimate;
  /** A job that waits where others would be refused. */
  queue?: QueueRequest;
}

/** The answer that an idempotency key got before. */
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
  /** The open job that runs the same failed tasks. */
  openRetry: number | null;
  quota: Quota;
  queue: QueueBook;
  /** Null: nothing needs an approval. */
  approval: ApprovalRule | null;
  /** Of a new one, by a budget that is used up; null: none. */
  refusal: Problem | null;
}

/** What a job that joins the queue finds. */
export interface QueueBook {
  isFull: boolean;
  /** By number: the jobs that requests wait for, as far as the workspace has them. */
  awaited: ReadonlyMap<number, AwaitedStatus>;
}

export interface Found {
  number: number;
  name: string;
  admissionId: string;
  /** False for a retry of the very request that was admitted: its caller may not have received the answer. */
  existing: boolean;
  /** Found by its name, not by the key of an earlier request. */
  named: boolean;
  /** Why a new one waits for an approval. */
  needsApproval?: string;
}

/** `found`: the answer, which a key must remember when it was found by its name. `create`: number, insert, and reserve unless it joins the queue. */
export type AdmissionDecision =
  | { found: Found; isRepeat: boolean }
  | { create: true; entry: QueueEntry | null }
  | { error: Problem };

/** Repeats are answered before names and limits are checked: what they asked for is reserved already. */
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

/** The key was answered with the ending one that this request replaces. */
const isToBeReplaced = (earlier: EarlierAnswer, item: AdmissionRequest): boolean =>
  item.instead !== undefined && earlier.number === item.instead && earlier.bodyHash === item.bodyHash;

/** Default names: a request that could choose one would take the name of a later number. */
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
