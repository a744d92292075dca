// The first and last step of every change of a Dask cluster: only an open cluster that is not a job's accepts it, and after the signal this process's
// view is outdated.
import { RopewalkError } from '../../domain/errors.ts';
import { clusterWorkflowId, type ClusterView, type DaskView } from '../../contracts/cluster.ts';
import type { Context } from '../context.ts';
import type { Viewed } from '../views.ts';

/** Throws NOT_FOUND, or CONFLICT for a job's cluster and for one that is stopping or has ended. */
export async function findOpenDask(
  { deps, actor }: Context,
  number: number,
): Promise<Pick<Viewed<ClusterView>, 'view' | 'record'> & { dask: DaskView }> {
  const { view, record } = await deps.views.cluster(actor.workspace, number);
  if (view.job !== null || view.dask === null) throw conflict(`Cluster ${number} works for a job, which manages it.`);
  if (view.endedAtMs !== null || closing.has(view.status)) throw hasEnded(number, view.status);
  if (view.status === 'waiting') throw stillWaits(number, view.reason?.text ?? 'It waits.');
  return { view, record, dask: view.dask };
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
  if (sent.kind !== 'sent') throw hasEnded(number, 'stopped');
  deps.views.expire(number);
  deps.orders.wake({ workspace: actor.workspace, cluster: number });
}

export const notYet = (number: number) =>
  new RopewalkError(
    { code: 'NOT_YET', message: `Cluster ${number} is just being started.`, hint: 'Try again in a second.' },
    { retryAfterMs: 1_000 },
  );

const stillWaits = (number: number, why: string) =>
  new RopewalkError(
    { code: 'NOT_YET', message: `Cluster ${number} has not started. ${why}`, hint: 'Try again when it has started.' },
    { retryAfterMs: 5_000 },
  );

const closing = new Set<ClusterView['status']>(['stopping', 'stopped', 'error']);

const hasEnded = (number: number, status: ClusterView['status']) =>
  conflict(
    `Cluster ${number} ${status === 'stopping' ? 'is stopping' : 'has ended'}: it takes no more requests.`,
    'Start a new cluster.',
  );

const conflict = (message: string, hint?: string) =>
  new RopewalkError({ code: 'CONFLICT', message, ...(hint === undefined ? {} : { hint }) });
