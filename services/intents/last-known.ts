// What is said of something that is to end while nobody can be asked about it: its last view, or, when this replica never
// had one, what the workspace's last view says of its reservation.
import { RopewalkError } from '../../domain/errors.ts';
import type { Holder } from '../../domain/workspace/state.ts';
import type { ClusterView } from '../../contracts/cluster.ts';
import type { JobView } from '../../contracts/job.ts';
import type { Context } from '../context.ts';
import { pendingCluster, pendingJob } from '../pending-views.ts';
import type { Viewed } from '../views.ts';
import { isAway } from './intents.ts';

export async function lastKnownJob(context: Context, number: number): Promise<Viewed<JobView>> {
  const { deps, actor } = context;
  return deps.views.job(actor.workspace, number).catch(async (error: unknown) => {
    const { holder, readAtMs } = await reservation(context, number, 'job', error);
    const spec = await deps.views.jobSpec(actor.workspace, number);
    return { view: pendingJob(actor.workspace, holder, spec, null, deps.now()), staleSinceMs: readAtMs };
  });
}

export async function lastKnownCluster(context: Context, number: number): Promise<Viewed<ClusterView>> {
  const { deps, actor } = context;
  return deps.views.cluster(actor.workspace, number).catch(async (error: unknown) => {
    const { holder, readAtMs } = await reservation(context, number, null, error);
    const spec = holder.kind === 'cluster' ? await deps.views.clusterSpec(actor.workspace, number) : null;
    return { view: pendingCluster(actor.workspace, holder, spec, null, deps.now()), staleSinceMs: readAtMs };
  });
}

async function reservation(
  { deps, actor }: Context,
  number: number,
  kind: Holder['kind'] | null,
  error: unknown,
): Promise<{ holder: Holder; readAtMs: number }> {
  if (!isAway(error)) throw error;
  const { value, readAtMs } = await deps.views.workspace(actor.workspace, Number.MAX_SAFE_INTEGER);
  const holder = value?.holders.find((each) => each.number === number && (kind === null || each.kind === kind));
  if (holder !== undefined) return { holder, readAtMs };
  throw error instanceof RopewalkError ? error : new Error('unreachable', { cause: error });
}
