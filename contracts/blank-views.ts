// The view of a job or cluster of which nothing has run: what its row, its start or its specification says, all else empty.
import type { ClusterView, DaskView } from './cluster.ts';
import type { JobView } from './job.ts';

type JobIdentity = 'number' | 'workspace' | 'name' | 'command' | 'user' | 'privateToCreator';
type JobPlan = 'array' | 'provider' | 'region' | 'instances';
type JobStanding = 'status' | 'reason' | 'submittedAtMs' | 'endedAtMs';

/** What a job's specification says of its wait; nothing of one that was admitted at once. */
export const queueOf = ({
  after,
  priority,
}: Pick<JobView, 'after' | 'priority'>): Pick<JobView, 'after' | 'priority'> => ({
  ...(after === undefined ? {} : { after }),
  ...(priority === undefined ? {} : { priority }),
});

/** `taskCount` tasks wait while the job has not begun, and none otherwise. */
export const blankJob = ({
  taskCount: total,
  ...known
}: Pick<JobView, JobIdentity | JobPlan | JobStanding | 'after' | 'priority'> & { taskCount: number }): JobView => ({
  ...known,
  tasks: {
    ...{ total, pending: known.status === 'pending' || known.status === 'waiting' ? total : 0 },
    ...{ assigned: 0, running: 0, done: 0, error: 0, cancelled: 0 },
  },
  counters: { done: 0, error: 0, cancelled: 0, stale: 0, repeated: 0, lost: 0, retried: 0 },
  startedAtMs: null,
  recentErrors: [],
  pagesWritten: 0,
});

type ClusterIdentity = 'number' | 'workspace' | 'name' | 'job' | 'user';
type ClusterPlan = 'target' | 'provider' | 'region' | 'dask';
type ClusterStanding = 'status' | 'reason' | 'createdAtMs' | 'endedAtMs';

export const blankCluster = (
  known: Pick<ClusterView, ClusterIdentity | ClusterPlan | ClusterStanding>,
): ClusterView => ({
  ...known,
  instances: [],
  failures: [],
  events: [],
  readyAtMs: null,
  launched: 0,
  terminated: 0,
  waiting: null,
});

export const blankDask = (
  known: Pick<DaskView, 'workersWanted' | 'privateToCreator' | 'noClientTimeoutMs' | 'caRef'>,
): DaskView => ({
  ...known,
  orders: { version: 0, schedulerAddress: null, drain: [], adaptive: null, stop: null },
  report: null,
  reportedAtMs: null,
  idleSinceMs: null,
  unresponsiveSinceMs: null,
  adaptive: null,
  workersStarted: 0,
  workersErrored: 0,
});
