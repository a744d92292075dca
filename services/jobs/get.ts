// One job, open or ended.
import type { Job } from '../../schema/jobs.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { showJob } from '../shown.ts';

export async function getJob(context: Context, { number }: { number: number }): Promise<Job> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  return showJob(context, await deps.views.job(actor.workspace, number));
}
