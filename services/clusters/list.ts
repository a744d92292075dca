// A page of clusters, newest first: one query, rows only. Includes the clusters of jobs, with the job's number.
import type { ClusterPage, ListClustersQuery } from '../../schema/clusters.ts';
import { requireScope } from '../auth/scopes.ts';
import { withCosts } from '../costs/of-numbers.ts';
import type { Context } from '../context.ts';
import { findable, nextCursor, toRecordQuery } from '../list-query.ts';
import { listedCluster } from '../shown.ts';

/** @throws RopewalkError VALIDATION naming the field. */
export async function listClusters(context: Context, { kind, ...query }: ListClustersQuery): Promise<ClusterPage> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  const wanted = { ...toRecordQuery(context, query), ...(kind === undefined ? {} : { kind }) };
  const page = await deps.store.clusters.list(wanted);
  const items = findable(context, page.items, query).map((record) => listedCluster(context, record));
  return { items: await withCosts(context, items), next: nextCursor(page) };
}
