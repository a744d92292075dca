// One job, open or over.
import type { Job } from '../../../schema/jobs.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { toWireJob } from '../to-wire.ts';

export async function getJob({ deps, actor }: Context, { number }: { number: number }): Promise<Job> {
  requireScope(actor, 'read', { honourStale: true });
  return toWireJob(await deps.views.job(actor.workspace, number));
}
