// A page of jobs, newest first.
import type { JobPage } from '../../../schema/jobs.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { listNumbers, readAll } from '../list-numbers.ts';
import { toWireJob } from '../to-wire.ts';

export async function listJobs(
  { deps, actor }: Context,
  { limit, after, name }: { limit: number; after?: string | undefined; name?: string | undefined },
): Promise<JobPage> {
  requireScope(actor, 'read', { honourStale: true });
  const { workspace } = actor;
  const { numbers, next } = await listNumbers(deps, { workspace, kind: 'jobs', holders: ['job'], limit, after, name });
  return { items: await readAll(numbers, async (number) => toWireJob(await deps.views.job(workspace, number))), next };
}
