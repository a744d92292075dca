// Ends a job: no more leases, its agents drop what runs. Cancelling what is over changes nothing.
import { RopewalkError } from '../../../domain/errors.ts';
import type { Job } from '../../../schema/jobs.ts';
import { jobMessages, jobWorkflowId, type CancelSignal } from '../../../workflows/job/messages.ts';
import { ownedJob, requireMayEnd } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { toWireJob } from '../to-wire.ts';

export async function cancelJob({ deps, actor }: Context, { number }: { number: number }): Promise<Job> {
  requireScope(actor, 'write', { honourStale: true });
  const { view } = await deps.views.job(actor.workspace, number);
  requireMayEnd(actor, ownedJob(view));
  if (view.endedAtMs === null) {
    const cancel: CancelSignal = { code: 'CANCELLED', text: `Cancelled by ${actor.user}.`, by: actor.user };
    const sent = await deps.workflows.signal(jobWorkflowId(number), jobMessages.cancel, cancel);
    if (sent.kind === 'missing' && view.status === 'pending') throw notYet(number);
    deps.views.expire(number);
  }
  return toWireJob(await deps.views.job(actor.workspace, number));
}

const notYet = (number: number) =>
  new RopewalkError(
    { code: 'NOT_YET', message: `Job ${number} is just being started.`, hint: 'Try again in a second.' },
    { retryAfterMs: 1_000 },
  );
