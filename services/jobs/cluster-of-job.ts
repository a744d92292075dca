// Finds the cluster of a job.
import type { ClusterView } from '../../contracts/cluster.ts';
import type { JobView } from '../../contracts/job.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { Context } from '../context.ts';

/** Null for an ended job, and for one that has not started its cluster. */
export const clusterOfJob = async (context: Pick<Context, 'deps'>, job: JobView): Promise<ClusterView | null> =>
  job.endedAtMs === null ? await openOrEndedCluster(context, job) : null;

/** Null for a job that has not started its cluster. */
export async function openOrEndedCluster(
  { deps }: Pick<Context, 'deps'>,
  { workspace, number }: JobView,
): Promise<ClusterView | null> {
  try {
    return (await deps.views.cluster(workspace, number)).view;
  } catch (error) {
    if (error instanceof RopewalkError && error.problem.code === 'NOT_FOUND') return null;
    throw error;
  }
}
