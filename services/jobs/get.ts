// One job, open or ended.
import { notStartedReason } from '../../domain/job/not-started.ts';
import type { Job } from '../../schema/jobs.ts';
import { requireScope } from '../auth/scopes.ts';
import { withCost } from '../costs/of-numbers.ts';
import type { Context } from '../context.ts';
import { showJob } from '../shown.ts';
import { clusterOfJob } from './cluster-of-job.ts';

export async function getJob(context: Context, { number }: { number: number }): Promise<Job> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  const viewed = await deps.views.job(actor.workspace, number);
  const { view } = viewed;
  // Launching instances and building an environment may take minutes.
  const isUnexplained = view.status === 'pending' && view.reason === null;
  const reason = isUnexplained ? notStartedReason(view, await clusterOfJob(context, view)) : view.reason;
  return withCost(context, showJob(context, { ...viewed, view: { ...view, reason } }));
}
