// Admission: the one door through which a cluster or job comes to be. It decides on idempotency, names, limits and the
// number, reserves, and answers; starting the workflow is the loop's work.
import type { Problem } from '../errors.ts';
import { idempotencyTtlMs } from '../limits.ts';
import { remember } from './keys.ts';
import type { AdmitAnswer, AdmitItem, Holder, IdempotencyRecord, WorkspaceState } from './state.ts';
import { exceeded } from './use.ts';

/** Applies one request to the state, in place. The same admission id or idempotency key always gets the same number. */
export function admit(state: WorkspaceState, item: AdmitItem, nowMs: number): AdmitAnswer {
  const earlier = state.keys[item.idempotencyKey];
  if (earlier !== undefined && nowMs - earlier.atMs < idempotencyTtlMs && !wasEnding(earlier, item)) {
    if (earlier.bodyHash !== item.bodyHash) return { error: mismatch };
    // A repeat of the very request that made it was answered once already, but its caller may not have heard.
    const existing = earlier.admissionId !== item.admissionId;
    const { number, admissionId, named } = earlier;
    // What was found by its name may be ending by now, also when the first answer was lost: the caller must look again.
    const found = named === true ? { named } : {};
    return { ok: { number, name: nameOf(state, earlier, item), admissionId, existing, ...found } };
  }
  if (reservedName.test(item.name)) return { error: nameReserved };
  const named =
    item.name === ''
      ? undefined
      : state.holders.find((holder) => holder.name === item.name && holder.nameless !== true);
  if (named !== undefined && named.number !== item.instead) {
    if (!item.getOrCreate || named.kind !== item.kind) return { error: nameTaken(named) };
    const { number, admissionId } = named;
    remember(state, item.idempotencyKey, { number, admissionId, bodyHash: item.bodyHash, atMs: nowMs, named: true });
    return {
      ok: { number: named.number, name: named.name, admissionId: named.admissionId, existing: true, named: true },
    };
  }
  const over = exceeded(state, { user: item.user, running: 1, instances: item.instances, vcpus: item.vcpus });
  if (over !== null) return { error: over };
  const number = takeNumber(state);
  if (number === null) return { error: noNumbers };
  if (named !== undefined) named.nameless = true;
  const holder = reserve(state, item, number, nowMs);
  const { admissionId, bodyHash } = item;
  remember(state, item.idempotencyKey, { number, admissionId, bodyHash, atMs: nowMs });
  return { ok: { number, name: holder.name, admissionId: item.admissionId, existing: false } };
}

/** The key was last answered with the ending holder that this request is to replace. */
const wasEnding = (earlier: IdempotencyRecord, item: AdmitItem): boolean =>
  item.instead !== undefined && earlier.number === item.instead && earlier.bodyHash === item.bodyHash;

/** What a holder without a name of its own is called; nobody may take such a name ahead of it. */
const reservedName = /^(job|cluster)-[0-9]+$/;

const nameReserved: Problem = {
  code: 'VALIDATION',
  field: 'name',
  message: 'Names of the form job-12 and cluster-12 are given by the workspace itself.',
  hint: 'Choose another name, or leave it out.',
};

const mismatch: Problem = {
  code: 'IDEMPOTENCY_MISMATCH',
  message: 'This Idempotency-Key was used within the last 24 hours for a different request body.',
  hint: 'Send a new key for a new request, or the same body to repeat the old one.',
};

const noNumbers: Problem = {
  code: 'UNAVAILABLE',
  message: 'The workspace is waiting for a new block of numbers from the deployment.',
  hint: 'Try again in a second.',
};

function nameTaken(holder: Holder): Problem {
  return {
    code: 'NAME_TAKEN',
    field: 'name',
    message: `The name ${JSON.stringify(holder.name)} belongs to ${holder.kind} ${holder.number}, which is still open.`,
    hint: `Choose another name, or end that one first.`,
  };
}

/** A holder that is over has left no name behind; then the name that the request asked for is the one it had. */
function nameOf(state: WorkspaceState, earlier: { number: number }, item: AdmitItem): string {
  const holder = state.holders.find((each) => each.number === earlier.number);
  return holder?.name ?? (item.name === '' ? defaultName(item.kind, earlier.number) : item.name);
}

function defaultName(kind: Holder['kind'], number: number): string {
  return `${kind}-${number}`;
}

/** The spare block takes over when the current one is used up; the loop then leases a new spare. */
function takeNumber(state: WorkspaceState): number | null {
  if (state.block.next > state.block.end && state.spare !== null) {
    state.block = state.spare;
    state.spare = null;
  }
  if (state.block.next > state.block.end) return null;
  state.block.next += 1;
  return state.block.next - 1;
}

function reserve(state: WorkspaceState, item: AdmitItem, number: number, nowMs: number): Holder {
  const holder: Holder = {
    number,
    kind: item.kind,
    name: item.name === '' ? defaultName(item.kind, number) : item.name,
    admissionId: item.admissionId,
    specRef: item.specRef,
    user: item.user,
    instances: item.instances,
    vcpus: item.vcpus,
    ...(item.workerVcpus === undefined ? {} : { workerVcpus: item.workerVcpus }),
    reservedAtMs: nowMs,
    state: 'reserved',
    ...(item.privateToCreator === true ? { privateToCreator: true } : {}),
  };
  state.holders.push(holder);
  state.admitted += 1;
  return holder;
}
