// A page of jobs, newest first: one query, rows only.
import type { JobPage, ListJobsQuery } from '../../schema/jobs.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { findable, nextCursor, toRecordQuery } from '../list-query.ts';
import { listedJob } from '../shown.ts';

/** @throws RopewalkError VALIDATION naming the field. */
export async function listJobs(context: Context, query: ListJobsQuery): Promise<JobPage> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  const page = await deps.store.jobs.list(toRecordQuery(context, query));
  const items = findable(context, page.items, query).map((record) => listedJob(context, record));
  return { items, next: nextCursor(page) };
}
