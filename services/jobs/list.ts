// A page of jobs, newest first: one query, rows only, plus the specifications of jobs that have not started.
import type { JobView } from '../../contracts/job.ts';
import type { JobPage, ListJobsQuery } from '../../schema/jobs.ts';
import type { StoredRecord } from '../../store/store.ts';
import { requireScope } from '../auth/scopes.ts';
import { withCosts } from '../costs/of-numbers.ts';
import type { Context } from '../context.ts';
import { findable, nextCursor, toRecordQuery } from '../list-query.ts';
import { listedJob } from '../shown.ts';

/** @throws RopewalkError VALIDATION naming the field. */
export async function listJobs(context: Context, query: ListJobsQuery): Promise<JobPage> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  const page = await deps.store.jobs.list(toRecordQuery(context, query));
  const records = await Promise.all(findable(context, page.items, query).map((record) => withView(context, record)));
  const items = records.map((record) => listedJob(context, record));
  return { items: await withCosts(context, items), next: nextCursor(page) };
}

/** A row gets its first view after its workflow's start; before, the specification contains the number of tasks. */
async function withView({ deps }: Context, record: StoredRecord<JobView>): Promise<StoredRecord<JobView>> {
  if (record.view !== null) return record;
  return { ...record, view: await deps.views.jobOfRow(record) };
}
