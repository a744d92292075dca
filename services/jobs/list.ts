// A page of jobs, newest first.
import type { JobPage } from '../../schema/jobs.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { listNumbers, readAll } from '../list-numbers.ts';
import { showJob } from '../shown.ts';

export async function listJobs(
  context: Context,
  { limit, after, name }: { limit: number; after?: string | undefined; name?: string | undefined },
): Promise<JobPage> {
  const { deps, actor } = context;
  requireScope(actor, 'read', { honourStale: true });
  const { workspace } = actor;
  const { numbers, next } = await listNumbers(deps, { workspace, kind: 'jobs', holders: ['job'], limit, after, name });
  const read = async (number: number) => showJob(context, await deps.views.job(workspace, number));
  return { items: await readAll(numbers, read), next };
}
