// Admits a new job or cluster: one transaction, after its objects were written. The objects of a refused or repeated request are deleted. When the
// outcome of the transaction is unknown, they stay, because the row may exist.
import type { ClusterView } from '../../contracts/cluster.ts';
import type { JobView } from '../../contracts/job.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { Admitted, AdmitItem, RecordKind } from '../../store/admission-port.ts';
import { requireScope } from '../auth/scopes.ts';
import { verifyAgain } from '../auth/verify-token.ts';
import type { Context } from '../context.ts';
import { hashLargeBody } from '../jobs/canonical.ts';
import { numberInUse } from './start.ts';

export interface Admission extends Omit<AdmitItem, 'workspace' | 'user' | 'idempotencyKey' | 'bodyHash'> {
  /** The header as sent. */
  idempotencyKey: string | undefined;
  body: unknown;
  withdraw: () => Promise<unknown>;
}

export interface Accepted extends Pick<Admitted, 'number' | 'name' | 'existing'> {
  /** Temporal is unavailable: it starts later. */
  acceptedForLater: boolean;
  /** Why it waits for an approval. */
  needsApproval?: string;
}

/** Checked before anything is written, so an outage of the database leaves nothing behind. Throws UNAVAILABLE. */
export const requireDatabase = ({ deps }: Context): Promise<void> => deps.store.ping();

export async function admit(context: Context, admission: Admission): Promise<Accepted> {
  const { deps, actor } = context;
  const { idempotencyKey, body, withdraw, ...item } = admission;
  const { workspace, user, userId } = actor;
  const bodyHash = await hashLargeBody(body, deps.keys.current.requestHmac);
  await orWithdrawn(requireStill(context), withdraw);
  const answer = await deps.store.admissions.admit(
    {
      ...item,
      workspace,
      user,
      idempotencyKey: idempotencyKey === undefined ? item.admissionId : `${userId}:${idempotencyKey}`,
      bodyHash,
    },
    deps.now(),
  );
  if ('error' in answer) {
    await withdraw();
    throw new RopewalkError(answer.error, { retryAfterMs: 1_000 });
  }
  const { number, name, existing, named, admissionId, needsApproval } = answer.ok;
  // An ending job or cluster would end before its use, so this request gets a new one.
  if (named && item.instead === undefined && (await isEnding(context, item.kind, number))) {
    return admit(context, { ...admission, instead: number });
  }
  if (admissionId !== item.admissionId) await withdraw();
  if (existing) return { number, name, existing, acceptedForLater: false };
  if (needsApproval !== undefined) return { number, name, existing, acceptedForLater: false, needsApproval };
  // It starts when the awaited jobs have ended; the queue moves every second.
  if (item.queue !== undefined && item.queue.after.length > 0)
    return { number, name, existing, acceptedForLater: false };
  const begun = await deps.starter.begin(number);
  if (begun === 'refused') throw inUse(item.kind, number);
  return { number, name, existing, acceptedForLater: begun === 'later' };
}

export const approvalWarning = (why: string): string => `It starts when an admin has approved it. ${why}`;

export const laterWarning = 'Accepted; it starts when Temporal is available again.';

/** After a failed write, deletes the objects written so far; those that cannot be deleted now are deleted after their expiry. */
export async function orWithdrawn(write: Promise<void>, withdraw: Admission['withdraw']): Promise<void> {
  await write.catch(async (error: unknown) => {
    await withdraw().catch(() => undefined);
    throw error;
  });
}

/** Storing may take long, and the token may have been revoked meanwhile. */
async function requireStill({ deps, actor }: Context): Promise<void> {
  requireScope(await verifyAgain(deps, actor), 'write');
}

/** Asks the workflow itself; while it does not answer, it counts as not ending. */
async function isEnding({ deps, actor }: Context, kind: RecordKind, number: number): Promise<boolean> {
  deps.views.expire(number);
  try {
    if (kind === 'job') return endedJob.has((await deps.views.job(actor.workspace, number)).view.status);
    return endingCluster.has((await deps.views.cluster(actor.workspace, number)).view.status);
  } catch {
    return false;
  }
}

const endedJob = new Set<JobView['status']>(['done', 'error', 'cancelled']);
const endingCluster = new Set<ClusterView['status']>(['stopping', 'stopped', 'error']);

const inUse = (kind: RecordKind, number: number) =>
  new RopewalkError({
    code: 'CONFLICT',
    message: `The ${kind} got the number ${number}, which a workflow of another admission has: ${numberInUse.code}.`,
    hint: 'The database was probably restored from an older backup. An operator runs `ropewalk reconcile`; then try again.',
  });
