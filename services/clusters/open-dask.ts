// What every request to change a Dask cluster begins and ends with: only one that is open and no job's own can be asked,
// and once it was told, what this replica remembers of it is out of date.
import { RopewalkError } from '../../domain/errors.ts';
import { clusterWorkflowId, type ClusterView, type DaskView } from '../../contracts/cluster.ts';
import type { Context } from '../context.ts';

/** Throws NOT_FOUND, or CONFLICT for a job's cluster and for one that stops or is over. */
export async function findOpenDask(
  { deps, actor }: Context,
  number: number,
): Promise<{ view: ClusterView; dask: DaskView }> {
  const { view } = await deps.views.cluster(actor.workspace, number);
  if (view.job !== null || view.dask === null) throw conflict(`Cluster ${number} works for a job, which manages it.`);
  if (view.endedAtMs !== null || closing.has(view.status)) throw isOver(number, view.status);
  return { view, dask: view.dask };
}

export async function signalCluster<I>(
  { deps, actor }: Context,
  view: ClusterView,
  name: string,
  input: I,
): Promise<void> {
  const { number } = view;
  const sent = await deps.workflows.signal(clusterWorkflowId(number), name, input);
  if (sent.kind === 'missing' && view.status === 'pending') throw notYet(number);
  if (sent.kind !== 'sent') throw isOver(number, 'stopped');
  deps.views.expire(number);
  deps.orders.wake({ workspace: actor.workspace, cluster: number });
}

export const notYet = (number: number) =>
  new RopewalkError(
    { code: 'NOT_YET', message: `Cluster ${number} is just being started.`, hint: 'Try again in a second.' },
    { retryAfterMs: 1_000 },
  );

const closing = new Set<ClusterView['status']>(['stopping', 'stopped', 'error']);

const isOver = (number: number, status: ClusterView['status']) =>
  conflict(
    `Cluster ${number} is ${status === 'stopping' ? 'stopping' : 'over'}: it takes no more requests.`,
    'Start a new cluster.',
  );

const conflict = (message: string, hint?: string) =>
  new RopewalkError({ code: 'CONFLICT', message, ...(hint === undefined ? {} : { hint }) });
