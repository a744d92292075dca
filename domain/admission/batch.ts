// Decides several admissions of one workspace in sequence: each sees the reservations of the earlier ones.
import { refusedByBudget, type CountedBudget } from '../budget/admit.ts';
import type { Problem } from '../errors.ts';
import type { WorkspaceLimits } from '../quota/state.ts';
import type { ApprovalRule } from './approval.ts';
import type { QueueEntry } from './queue.ts';
import {
  decideAdmission,
  defaultName,
  type AdmissionRequest,
  type EarlierAnswer,
  type Found,
  type NameOwner,
  type QueueBook,
} from './admit.ts';

export interface BatchRequest extends AdmissionRequest {
  idempotencyKey: string;
  user: string;
}

/** The rows that the requests concern, before the first request is applied. */
export interface AdmissionBook {
  /** By idempotency key. */
  keys: ReadonlyMap<string, EarlierAnswer>;
  /** By name. */
  names: ReadonlyMap<string, NameOwner>;
  /** Open jobs that retry failed tasks of another job, by that job's number. */
  retries: ReadonlyMap<number, number>;
  workspace: { use: WorkspaceLimits; limits: WorkspaceLimits };
  budgets: readonly CountedBudget[];
  approval: ApprovalRule | null;
  /** By name, for each user of the requests. */
  users: ReadonlyMap<string, { use: WorkspaceLimits; limits: Partial<WorkspaceLimits> }>;
  queue: QueueBook;
}

export interface BatchOutcome<R extends BatchRequest> {
  /** One answer for each request, in order. */
  answers: ({ ok: Found } | { error: Problem })[];
  /** Rows to insert. */
  made: { number: number; name: string; item: R; nowMs: number; entry: QueueEntry | null }[];
  /** Rows to write, new or changed. */
  keys: Map<string, EarlierAnswer>;
  names: Map<string, NameOwner>;
}

/** `numberOf(n)`: the number of the nth new job or cluster. It does not affect how many are created. */
export function decideBatch<R extends BatchRequest>(
  book: AdmissionBook,
  requests: readonly { item: R; nowMs: number }[],
  numberOf: (index: number) => number,
): BatchOutcome<R> {
  const outcome: BatchOutcome<R> = { answers: [], made: [], keys: new Map(), names: new Map() };
  const retries = new Map(book.retries);
  const use = { workspace: book.workspace.use, users: new Map<string, WorkspaceLimits>() };
  for (const { item, nowMs } of requests) {
    const user = book.users.get(item.user) ?? { use: none, limits: {} };
    const ownUse = use.users.get(item.user) ?? user.use;
    const decision = decideAdmission(
      {
        earlier: outcome.keys.get(item.idempotencyKey) ?? book.keys.get(item.idempotencyKey) ?? null,
        owner: item.name === '' ? null : (outcome.names.get(item.name) ?? book.names.get(item.name) ?? null),
        openRetry: item.retryOf === undefined ? null : (retries.get(item.retryOf) ?? null),
        quota: {
          workspace: { use: use.workspace, limits: book.workspace.limits },
          user: { name: item.user, use: ownUse, limits: user.limits },
        },
        queue: book.queue,
        approval: book.approval,
        refusal: refusedByBudget(book.budgets, item.user, nowMs),
      },
      item,
      nowMs,
    );
    if ('create' in decision) {
      const { entry } = decision;
      if (entry === null) {
        use.workspace = sum(use.workspace, item);
        use.users.set(item.user, sum(ownUse, item));
      }
      const made = create(outcome, { item, nowMs, entry }, numberOf(outcome.made.length));
      if (item.retryOf !== undefined) retries.set(item.retryOf, made.number);
      outcome.answers.push({ ok: made });
    } else if ('found' in decision) {
      if (!decision.isRepeat) remember(outcome, item, decision.found, nowMs);
      outcome.answers.push({ ok: decision.found });
    } else outcome.answers.push(decision);
  }
  return outcome;
}

function create<R extends BatchRequest>(
  outcome: BatchOutcome<R>,
  { item, nowMs, entry }: { item: R; nowMs: number; entry: QueueEntry | null },
  number: number,
): Found {
  const { kind, admissionId } = item;
  const name = item.name === '' ? defaultName(kind, number) : item.name;
  const needs = entry === null || entry.approval === null ? {} : { needsApproval: entry.approval.why };
  const found = { number, name, admissionId, existing: false, named: false, ...needs };
  outcome.made.push({ number, name, item, nowMs, entry });
  if (item.name !== '') outcome.names.set(name, { number, kind, admissionId });
  remember(outcome, item, found, nowMs);
  return found;
}

function remember<R extends BatchRequest>({ keys }: BatchOutcome<R>, item: R, found: Found, nowMs: number): void {
  const { number, name, admissionId, named } = found;
  keys.set(item.idempotencyKey, { number, name, admissionId, named, bodyHash: item.bodyHash, atMs: nowMs });
}

const none: WorkspaceLimits = { running: 0, instances: 0, vcpus: 0 };

const sum = (use: WorkspaceLimits, { instances, vcpus }: BatchRequest): WorkspaceLimits => ({
  running: use.running + 1,
  instances: use.instances + instances,
  vcpus: use.vcpus + vcpus,
});
