// Ends a job: no more leases, its agents drop what runs. Cancelling an ended one changes nothing. While Temporal is unavailable
// the command is stored.
import type { Job } from '../../schema/jobs.ts';
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
  const ended = await endNowOrLater(deps, { kind: 'cancel', number, workspace, by }, known.record);
  if (ended === 'later') return { ...showJob(context, known), acceptedForLater: true };
  deps.views.expire(number);
  return showJob(context, await deps.views.job(workspace, number));
}
