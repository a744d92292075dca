// What a caller is shown of a job or cluster: all of it, or, when it is private to somebody else, that it is there, whose,
// how it stands and how much it takes. Every answer that holds one goes through here.
import type { Cluster } from '../schema/clusters.ts';
import type { Job } from '../schema/jobs.ts';
import type { ClusterView } from '../contracts/cluster.ts';
import type { JobView } from '../contracts/job.ts';
import { isHidden, ownedCluster, ownedJob } from './auth/privacy.ts';
import type { Context } from './context.ts';
import { toWireCluster, toWireJob } from './to-wire.ts';
import type { Viewed } from './views.ts';

export function showJob({ actor }: Context, viewed: Viewed<JobView>): Job {
  const job = toWireJob(viewed);
  return isHidden(actor, ownedJob(viewed.view)) ? outsideOfJob(job) : job;
}

export async function showCluster({ deps, actor }: Context, viewed: Viewed<ClusterView>): Promise<Cluster> {
  const cluster = toWireCluster(viewed);
  // One's own is never hidden, so that nothing has to be looked up for it.
  if (cluster.user === actor.user) return cluster;
  return isHidden(actor, await ownedCluster(deps, viewed.view)) ? outsideOfCluster(cluster) : cluster;
}

/** The command, the tasks by number, and every text that may quote what it does or prints are left out. */
const outsideOfJob = (job: Job): Job => ({
  ...job,
  command: '',
  array: '',
  reason: withoutText(job.reason),
  recentErrors: [],
  withheld: true,
});

const outsideOfCluster = (cluster: Cluster): Cluster => ({
  ...cluster,
  reason: withoutText(cluster.reason),
  instances: [],
  failures: [],
  events: [],
  dask: cluster.dask === null ? null : outsideOfDask(cluster.dask),
  withheld: true,
});

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
