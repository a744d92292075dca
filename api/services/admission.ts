// The way of a new job or cluster into its workspace. What it refers to was written before; what a refused or repeated
// request has written is withdrawn. When nobody knows whether it was admitted, it stays: it may run.
import { RopewalkError } from '../../domain/errors.ts';
import type { AdmitItem } from '../../domain/workspace/state.ts';
import { workspaceWorkflowId, type AdmitOk } from '../../workflows/workspace/messages.ts';
import type { Context } from './context.ts';
import { hashBody } from './jobs/canonical.ts';

export interface Admission extends Omit<AdmitItem, 'idempotencyKey' | 'bodyHash' | 'user'> {
  /** As it was sent. */
  idempotencyKey: string | undefined;
  body: unknown;
  withdraw: () => Promise<unknown>;
}

export async function admit({ deps, actor }: Context, admission: Admission): Promise<AdmitOk> {
  const { idempotencyKey, body, withdraw, ...item } = admission;
  const { workspace, user } = actor;
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
  if (submitted.value.admissionId !== item.admissionId) await withdraw();
  deps.views.expireWorkspace(workspace);
  return submitted.value;
}

const refusedRetry = { retryAfterMs: 1_000 };

const workspaceGone = () =>
  new RopewalkError({
    code: 'UNAVAILABLE',
    message: 'The workspace does not take requests now.',
    hint: 'Try again; if it stays so, check its workflow in the Temporal UI.',
  });
