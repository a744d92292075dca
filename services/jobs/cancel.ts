// Ends a job: no more leases, its agents drop what runs. Cancelling an ended one changes nothing. While Temporal is unavailable
// the command is stored.
import type { JobView } from '../../contracts/job.ts';
import { bundleKey } from '../../platform/archive-keys.ts';
import type { Job } from '../../schema/jobs.ts';
import type { StoredRecord } from '../../store/store.ts';
import { requireMayEnd } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import { endNowOrLater } from '../commands/end.ts';
import type { Context } from '../context.ts';
import { showJob } from '../shown.ts';

export async function cancelJob(context: Context, { number }: { number: number }): Promise<Job> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const known = await deps.views.jobRow(actor.workspace, number);
  requireMayEnd(actor, 'Job', known.record);
  if (known.view.endedAtMs !== null) return showJob(context, known);
  const { workspace, user: by } = actor;
  if (known.record.state === 'waiting' && (await cancelWaitingJob(context, known.record))) {
    return showJob(context, await deps.views.jobRow(workspace, number));
  }
  const ended = await endNowOrLater(deps, { kind: 'cancel', number, workspace, by }, known.record);
  if (ended === 'later') return { ...showJob(context, known), acceptedForLater: true };
  deps.views.expire(number);
  return showJob(context, await deps.views.job(workspace, number));
}

/** False when it has left the queue meanwhile. */
async function cancelWaitingJob(
  { deps, actor }: Context,
  { number, workspace, admissionId }: StoredRecord<JobView>,
): Promise<boolean> {
  const reason = { code: 'CANCELLED', text: `Cancelled by ${actor.user}.` };
  const isCancelled = await deps.store.admissions.cancelWaiting(number, reason, deps.now());
  if (isCancelled) await deps.vault.delete(bundleKey(workspace, admissionId));
  return isCancelled;
}
