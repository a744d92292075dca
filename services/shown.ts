// The visible part of a job or cluster: all of it, or, when it is private to another user, only its existence, user, status and size. Every response
// with a job or cluster uses these functions.
import type { Cluster } from '../schema/clusters.ts';
import type { Job } from '../schema/jobs.ts';
import type { ClusterView } from '../contracts/cluster.ts';
import type { JobView } from '../contracts/job.ts';
import type { StoredRecord } from '../store/store.ts';
import { clusterOfRecord } from '../views/cluster.ts';
import { jobOfRecord } from '../views/job.ts';
import { isHidden } from './auth/privacy.ts';
import type { Context } from './context.ts';
import { toWireCluster, toWireJob } from './to-wire.ts';
import type { Viewed } from './views.ts';

export function showJob({ actor }: Context, viewed: Viewed<JobView>): Job {
  const job = toWireJob(viewed);
  return isHidden(actor, viewed.record) ? outsideOfJob(job) : job;
}

export function showCluster({ actor }: Context, viewed: Viewed<ClusterView>): Cluster {
  const cluster = toWireCluster(viewed);
  return isHidden(actor, viewed.record) ? outsideOfCluster(cluster) : cluster;
}

/** From a row of a list. A view that cannot be shown is left out, so one row never fails a page. */
export const listedJob = (context: Context, record: StoredRecord<JobView>): Job =>
  listed(context, record, showJob, (row) => jobOfRecord(row, null));

export const listedCluster = (context: Context, record: StoredRecord<ClusterView>): Cluster =>
  listed(context, record, showCluster, (row) => clusterOfRecord(row, null));

function listed<V, W>(
  context: Context,
  record: StoredRecord<V>,
  show: (context: Context, viewed: Viewed<V>) => W,
  ofRow: (record: StoredRecord<V>) => V,
): W {
  const rowAlone = (): W => show(context, { view: ofRow(record), staleSinceMs: null, record });
  if (record.view === null) return rowAlone();
  try {
    return show(context, { view: record.view, staleSinceMs: null, record });
  } catch (error) {
    const { workspace, number } = record;
    context.deps.logger.error({ err: error, workspace, number }, 'a stored view cannot be shown');
    return rowAlone();
  }
}

/** Leaves out the command, the tasks by number, and every text that may quote the command or its output. */
const outsideOfJob = (job: Job): Job => ({
  ...job,
  command: '',
  array: '',
  reason: withoutText(job.reason),
  recentErrors: [],
  failures: [],
  withheld: true,
});

const outsideOfCluster = (cluster: Cluster): Cluster => ({
  ...cluster,
  reason: withoutText(cluster.reason),
  instances: [],
  failures: [],
  events: [],
  waitingForCapacity: outsideOfWaiting(cluster.waitingForCapacity ?? null),
  dask: cluster.dask === null ? null : outsideOfDask(cluster.dask),
  gpus: null,
  withheld: true,
});

/** Its text names types, zones and a cloud's answer. */
const outsideOfWaiting = (waiting: NonNullable<Cluster['waitingForCapacity']> | null): Cluster['waitingForCapacity'] =>
  waiting === null ? null : { ...waiting, text: '' };

function outsideOfDask({ workersWanted, workersStarted, workersErrored }: NonNullable<Cluster['dask']>) {
  const empty = {
    schedulerAddress: null,
    tasks: null,
    clients: null,
    idleSince: null,
    unresponsiveSince: null,
    adaptive: null,
  };
  return { ...empty, workersWanted, workersStarted, workersErrored };
}

const withoutText = <T extends { text: string }>(reason: T | null): T | null =>
  reason === null ? null : { ...reason, text: '' };
