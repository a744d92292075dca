// @ropewalk/sdk: Dask clusters and durable batch jobs on your own machines, from any JavaScript that has `fetch`.
// This is the package's entry: what it exports is the public interface. It must never need Node.
import type { CreateJob, Job } from '../schema/jobs.ts';
import type { ClustersApi } from './clusters.ts';
import { createClustersApi } from './clusters.ts';
import type { JobsApi, WaitOptions } from './jobs.ts';
import { createJobsApi } from './jobs.ts';
import type { InstanceTypesApi } from './instance-types.ts';
import { createInstanceTypesApi } from './instance-types.ts';
import type { PeopleApi } from './people.ts';
import { createPeopleApi } from './people.ts';
import type { ConnectionOptions } from './request.ts';
import { createRequest } from './request.ts';

export type {
  Cluster,
  ClusterPage,
  CreateCluster,
  CreatedCluster,
  Credentials,
  DashboardLink,
} from '../schema/clusters.ts';
export type {
  CreatedToken,
  CreatedWorkspace,
  CreateToken,
  CreateWorkspace,
  Limits,
  PutLimits,
  PutUser,
  Role,
  Scope,
  SomeLimits,
  Token,
  User,
  Whoami,
  WorkspaceInfo,
} from '../schema/people.ts';
export type { CreatedJob, CreateJob, Job, JobEvent, LogLine, Task } from '../schema/jobs.ts';
export { ClusterFailedError, ClusterTimeoutError, formatFailure, groupFailures } from './cluster-errors.ts';
export type { FailureGroup } from './cluster-errors.ts';
export { startCluster } from './cluster-handle.ts';
export type { ClusterHandle, StartClusterOptions } from './cluster-handle.ts';
export type { ClusterWaitOptions, WorkerAmount } from './cluster-wait.ts';
export type { ClusterEvent, ClusterListOptions, ClustersApi, Duration } from './clusters.ts';
export {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  RopewalkApiError,
  ServerError,
  ValidationError,
} from './errors.ts';
export type { EventOptions } from './events.ts';
export type { FollowOptions } from './follow.ts';
export type {
  CallOptions,
  CreateOptions,
  Filter,
  JobListOptions,
  JobsApi,
  ListOptions,
  LogOptions,
  WaitOptions,
} from './jobs.ts';
export type { InstanceType, InstanceTypesQuery } from '../schema/instance-types.ts';
export type { Plan, PlannedRole, PlanPrice } from '../schema/plans.ts';
export type { InstanceTypesApi } from './instance-types.ts';
export { login } from './login.ts';
export type { LoginCode, LoginOptions } from './login.ts';
export type { ClusterLogOptions } from './logs.ts';
export type { Page, Paged } from './pages.ts';
export type { PeopleApi, TokensApi, UsersApi, WorkspacesApi } from './people.ts';
export type { ConnectionOptions } from './request.ts';

export interface Client extends PeopleApi {
  readonly jobs: JobsApi;
  readonly clusters: ClustersApi;
  readonly instanceTypes: InstanceTypesApi;
}

/**
 * A client of one workspace. Opens nothing yet; throws TypeError when `apiUrl` is not an http(s) URL.
 *
 * Every call may throw a RopewalkApiError (errors.ts says which) and, when its `signal` aborts, the signal's reason.
 * Calls that are safe to repeat, which all are that make no token, are tried up to five times.
 */
export function createClient(options: ConnectionOptions): Client {
  const request = createRequest(options);
  return {
    jobs: createJobsApi(request),
    clusters: createClustersApi(request),
    instanceTypes: createInstanceTypesApi(request),
    ...createPeopleApi(request),
  };
}

export type RunJobOptions = CreateJob &
  ConnectionOptions &
  WaitOptions & {
    /** Called once with the number, before waiting: enough to come back to the job later. */
    onCreated?: (created: { number: number; warnings: string[] }) => void;
  };

/** The end of a job: its last view, with what the API warned about when it was created. */
export type JobOutcome = Job & { warnings: string[] };

/**
 * Creates a job and waits until it is over. A job whose tasks fail does not throw: look at `status` (`done`, `error`
 * or `cancelled`) and at the counts in `tasks`. Aborting `signal` stops the waiting, not the job.
 */
export async function runJob(options: RunJobOptions): Promise<JobOutcome> {
  const { apiUrl, token, fetch, signal, pollMs, onProgress, onUnreachable, onCreated, ...input } = options;
  const client = createClient({ apiUrl, token, ...(fetch && { fetch }) });
  const created = await client.jobs.create(input, { ...(signal && { signal }) });
  onCreated?.({ number: created.number, warnings: created.warnings });
  const job = await client.jobs.wait(created.number, {
    ...(signal && { signal }),
    ...(pollMs !== undefined && { pollMs }),
    ...(onProgress && { onProgress }),
    ...(onUnreachable && { onUnreachable }),
  });
  return { ...job, warnings: created.warnings };
}
