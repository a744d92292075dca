// A page of clusters, newest first: those of jobs too, which share their job's number.
import type { ClusterPage } from '../../schema/clusters.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { listNumbers, readAll } from '../list-numbers.ts';
import { showCluster } from '../shown.ts';

export async function listClusters(
  context: Context,
  { limit, after, name }: { limit: number; after?: string | undefined; name?: string | undefined },
): Promise<ClusterPage> {
  const { deps, actor } = context;
  requireScope(actor, 'read', { honourStale: true });
  const { workspace } = actor;
  const holders: ('job' | 'cluster')[] = ['job', 'cluster'];
  const { numbers, next } = await listNumbers(deps, { workspace, kind: 'clusters', holders, limit, after, name });
  const read = async (number: number) => showCluster(context, await deps.views.cluster(workspace, number));
  return { items: await readAll(numbers, read), next };
}
