// Ends a job: it grants no more leases, and its agents drop running tasks. Cancelling an ended job changes nothing. While Temporal is unavailable,
// the command is stored.
import type { JobView } from '../../contracts/job.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { parseArray } from '../../domain/job/array.ts';
import { readStoredArray } from '../../domain/job/stored-array.ts';
import { bundleKey } from '../../platform/archive-keys.ts';
import type { Job } from '../../schema/jobs.ts';
import type { StoredRecord } from '../../store/store.ts';
import { requireMayEnd } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import { endNowOrLater } from '../commands/end.ts';
import type { Context } from '../context.ts';
import { showJob } from '../shown.ts';
import { requireTasks } from './known-tasks.ts';

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
  const ended = await endNowOrLater(deps, { kind: 'cancel', number, tasks: '', workspace, by }, known.record);
  if (ended === 'later') return { ...showJob(context, known), acceptedForLater: true };
  deps.views.expire(number);
  return showJob(context, await deps.views.job(workspace, number));
}

/**
 * Ends some tasks of a job; the job continues with the others. @throws RopewalkError VALIDATION for unknown tasks, CONFLICT once the job has ended.
 */
export async function cancelTasksOfJob(
  context: Context,
  { number, tasks: asked }: { number: number; tasks: string },
): Promise<Job> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const { workspace, user: by } = actor;
  const known = await deps.views.jobRow(workspace, number);
  requireMayEnd(actor, 'Job', known.record);
  const { view, record } = known;
  if (view.endedAtMs !== null)
    throw conflict(`Job ${number} has ended: ${view.status}.`, 'Nothing of it runs any more.');
  if (record.state === 'waiting') {
    throw conflict(`Job ${number} waits in the queue.`, 'Cancel the job, or its tasks once it has started.');
  }
  const spec = await deps.views.jobSpec(workspace, number);
  const wanted = parseArray(asked, 'tasks');
  await requireTasks({ deps, actor }, wanted, readStoredArray(spec?.settings.array ?? view.array));
  const tasks = wanted.canonical;
  const sent = await endNowOrLater(deps, { kind: 'cancel', number, tasks, workspace, by }, record);
  if (sent === 'later') return { ...showJob(context, known), acceptedForLater: true };
  deps.views.expire(number);
  return showJob(context, await deps.views.job(workspace, number));
}

const conflict = (message: string, hint: string) => new RopewalkError({ code: 'CONFLICT', message, hint });

/** Returns false when the job has left the queue meanwhile. */
async function cancelWaitingJob(
  { deps, actor }: Context,
  { number, workspace, admissionId }: StoredRecord<JobView>,
): Promise<boolean> {
  const reason = { code: 'CANCELLED', text: `Cancelled by ${actor.user}.` };
  const isCancelled = await deps.store.admissions.cancelWaiting(number, reason, deps.now());
  if (isCancelled) await deps.vault.delete(bundleKey(workspace, admissionId));
  return isCancelled;
}
