// The way of a new job or cluster into its workspace. What it refers to was written before; what a refused or repeated
// request has written is withdrawn. When nobody knows whether it was admitted, it stays: it may run.
import { RopewalkError } from '../domain/errors.ts';
import type { AdmitItem, HolderKind } from '../domain/workspace/state.ts';
import type { ClusterView } from '../contracts/cluster.ts';
import type { JobView } from '../contracts/job.ts';
import { workspaceWorkflowId, type AdmitOk } from '../workflows/workspace/messages.ts';
import { requireScope } from './auth/scopes.ts';
import { verifyAgain } from './auth/verify-token.ts';
import type { Context } from './context.ts';
import { hashBody } from './jobs/canonical.ts';

export interface Admission extends Omit<AdmitItem, 'idempotencyKey' | 'bodyHash' | 'user'> {
  /** As it was sent. */
  idempotencyKey: string | undefined;
  body: unknown;
  withdraw: () => Promise<unknown>;
}

export async function admit(context: Context, admission: Admission): Promise<AdmitOk> {
  const { deps, actor } = context;
  const { idempotencyKey, body, withdraw, ...item } = admission;
  const { workspace, user } = actor;
  await orWithdrawn(requireStill(context), withdraw);
  const submitted = await deps.admissions
    .submit(workspaceWorkflowId(workspace), {
      ...item,
      idempotencyKey: idempotencyKey === undefined ? item.admissionId : `${user}:${idempotencyKey}`,
      bodyHash: hashBody(body, deps.keys.current.requestHmac),
      user,
    })
    .catch(async (error: unknown) => {
      if (error instanceof RopewalkError && error.problem.code === 'TOO_BUSY') await withdraw();
      throw error;
    });
  if (submitted.kind !== 'answer') {
    await withdraw();
    throw submitted.kind === 'refused' ? new RopewalkError(submitted.problem, refusedRetry) : workspaceGone();
  }
  const { named = false, number } = submitted.value;
  // Who asks for an open one is not given one that is ending: it would be gone before it was used.
  if (named && item.instead === undefined && (await isEnding(context, item.kind, number))) {
    return admit(context, { ...admission, instead: number });
  }
  if (submitted.value.admissionId !== item.admissionId) await withdraw();
  deps.views.expireWorkspace(workspace);
  return submitted.value;
}

/** What was written before a write that failed goes at once; what cannot be deleted now goes when it has expired. */
export async function orWithdrawn(write: Promise<void>, withdraw: Admission['withdraw']): Promise<void> {
  await write.catch(async (error: unknown) => {
    await withdraw().catch(() => undefined);
    throw error;
  });
}

/** Storing takes as long as the store does: whoever may no longer write by now makes nothing. */
async function requireStill({ deps, actor }: Context): Promise<void> {
  requireScope(await verifyAgain(deps, actor), 'write', { honourStale: false });
}

/** Asked of the workflow itself: a moment ago counts. While nobody can tell, it is not. */
async function isEnding({ deps, actor }: Context, kind: HolderKind, number: number): Promise<boolean> {
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

const refusedRetry = { retryAfterMs: 1_000 };

const workspaceGone = () =>
  new RopewalkError({
    code: 'UNAVAILABLE',
    message: 'The workspace does not take requests now.',
    hint: 'Try again; if it stays so, check its workflow in the Temporal UI.',
  });
