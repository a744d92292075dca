// One job, open or ended.
import type { Job } from '../../schema/jobs.ts';
import { requireScope } from '../auth/scopes.ts';
import { withCost } from '../costs/of-numbers.ts';
import type { Context } from '../context.ts';
import { showJob } from '../shown.ts';

export async function getJob(context: Context, { number }: { number: number }): Promise<Job> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  return withCost(context, showJob(context, await deps.views.job(actor.workspace, number)));
}
