// @ropewalk/sdk: Dask clusters and durable batch jobs on your own VMs, from any JavaScript runtime that has `fetch`.
// The package's entry: its exports are the public interface. It must run without Node.
import type { CreateJob, Job } from '../schema/jobs.ts';
import type { ClustersApi } from './clusters.ts';
import { createClustersApi } from './clusters.ts';
import type { JobsApi, WaitOptions } from './jobs.ts';
import { createJobsApi } from './jobs.ts';
import type { CostsApi } from './costs.ts';
import { createCostsApi } from './costs.ts';
import { createCloudsApi, type CloudsApi } from './clouds.ts';
import type { ApprovalsApi } from './approvals.ts';
import { createApprovalsApi } from './approvals.ts';
import type { BudgetsApi } from './budgets.ts';
import { createBudgetsApi } from './budgets.ts';
import type { InstanceTypesApi } from './instance-types.ts';
import { createInstanceTypesApi } from './instance-types.ts';
import type { PeopleApi } from './people.ts';
import { createPeopleApi } from './people.ts';
import type { FilesApi } from './files.ts';
import { createFilesApi } from './files.ts';
import type { PackageFilesApi } from './package-files.ts';
import { createPackageFilesApi } from './package-files.ts';
import type { EnvironmentsApi } from './environments.ts';
import { createEnvironmentsApi } from './environments.ts';
import { createSchedulesApi, type SchedulesApi } from './schedules.ts';
import { createWebhooksApi, type WebhooksApi } from './webhooks.ts';
import type { ConnectionOptions } from './connection.ts';
import { resolveConnection } from './connection.ts';
import { createResolveSources } from './own-address.ts';
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
  PutDefaults,
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
export type { ClusterEvent, JobEvent } from '../schema/events.ts';
export type { CreatedJob, CreateJob, Job, LogLine, Task, TaskStates } from '../schema/jobs.ts';
export type { Cloud } from '../schema/clouds.ts';
export type { CloudsApi } from './clouds.ts';
export type { ClusterAt, JobAt } from '../schema/history.ts';
export { ClusterFailedError, ClusterTimeoutError, formatFailure, groupFailures } from './cluster-errors.ts';
export type { FailureGroup } from './cluster-errors.ts';
export { startCluster } from './cluster-handle.ts';
export type { ClusterHandle, StartClusterOptions } from './cluster-handle.ts';
export type { ClusterWaitOptions, WorkerAmount } from './cluster-wait.ts';
export type { ClusterListOptions, ClustersApi, Duration } from './clusters.ts';
export {
  AuthenticationError,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  RopewalkApiError,
  ServerError,
  ValidationError,
} from './errors.ts';
export type { ClusterEventOptions, EventOptions } from './events.ts';
export type { FollowOptions } from './follow.ts';
export type { JobListOptions, JobsApi, LogOptions, WaitOptions } from './jobs.ts';
export type { CallOptions, CreateOptions, Filter, ListOptions } from './options.ts';
export type { InstanceType, InstanceTypesQuery } from '../schema/instance-types.ts';
export type { Configuration } from '../schema/configuration.ts';
export type { Why, WhySentence } from '../schema/why.ts';
export type { Plan, PlannedRole, PlanPrice } from '../schema/plans.ts';
export type { CostLine, Costs } from '../schema/costs.ts';
export type { CostsApi } from './costs.ts';
export type { Approval, ApprovalRule, PutApprovalRule } from '../schema/approvals.ts';
export type { ApprovalsApi } from './approvals.ts';
export type { Budget, PutBudget } from '../schema/budgets.ts';
export type { BudgetsApi } from './budgets.ts';
export type { InstanceTypesApi } from './instance-types.ts';
export { login } from './login.ts';
export type { LoginCode, LoginOptions } from './login.ts';
export type { ClusterLogOptions } from './logs.ts';
export type { FileDownload, FilesApi, FileUpload, ListedFile, StoredFile } from './files.ts';
export type { EnvironmentsApi } from './environments.ts';
export type { EnvironmentDetails, EnvironmentPage, NamedEnvironment, PutEnvironment } from '../schema/environments.ts';
export type { PackageFilesApi } from './package-files.ts';
export type { SchedulesApi } from './schedules.ts';
export type { CreateSchedule, Schedule, ScheduleDetails, ScheduleRun } from '../schema/schedules.ts';
export type { WebhooksApi } from './webhooks.ts';
export type { CreatedWebhook, CreateWebhook, Delivery, Notification, Webhook } from '../schema/webhooks.ts';
export type { Page, Paged } from './pages.ts';
export type { PeopleApi, TokensApi, UsersApi, WorkspacesApi } from './people.ts';
export type { ConnectionOptions } from './connection.ts';

export interface Client extends PeopleApi {
  readonly jobs: JobsApi;
  readonly clusters: ClustersApi;
  readonly costs: CostsApi;
  readonly clouds: CloudsApi;
  readonly budgets: BudgetsApi;
  readonly approvals: ApprovalsApi;
  readonly instanceTypes: InstanceTypesApi;
  readonly packageFiles: PackageFilesApi;
  readonly files: FilesApi;
  readonly environments: EnvironmentsApi;
  readonly webhooks: WebhooksApi;
  readonly schedules: SchedulesApi;
}

/**
 * A client of one workspace. In Node, an option that is not given is read from the environment, then from `config.yaml`
 * (see ConnectionOptions). Sends nothing yet. Throws ConfigurationError when the address or the token is missing.
 *
 * ```ts
 * const client = createClient();
 * const { number } = await client.jobs.create({ command: ['echo', 'hello'], ntasks: 3 });
 * const job = await client.jobs.wait(number);
 * ```
 *
 * Every call can throw a RopewalkApiError (see errors.ts) and, when its `signal` aborts, the signal's reason.
 * All calls except those that create a token are safe to repeat; they are tried up to five times.
 */
export function createClient(options: ConnectionOptions = {}): Client {
  const connection = resolveConnection(options);
  const request = createRequest(connection);
  const resolveSources = createResolveSources(connection);
  return {
    jobs: createJobsApi(request, resolveSources),
    clusters: createClustersApi(request, resolveSources),
    costs: createCostsApi(request),
    clouds: createCloudsApi(request),
    budgets: createBudgetsApi(request),
    approvals: createApprovalsApi(request),
    instanceTypes: createInstanceTypesApi(request),
    packageFiles: createPackageFilesApi(request),
    files: createFilesApi(request),
    environments: createEnvironmentsApi(request),
    webhooks: createWebhooksApi(request),
    schedules: createSchedulesApi(request),
    ...createPeopleApi(request),
  };
}

export type RunJobOptions = CreateJob &
  ConnectionOptions &
  WaitOptions & {
    /** Called once with the job's number, before waiting. Store it to find the job again. */
    onCreated?: (created: { number: number; warnings: string[] }) => void;
  };

/** The final state of a job, with the warnings of its creation. */
export type JobOutcome = Job & { warnings: string[] };

/**
 * Creates a job and waits until it has ended. A job whose tasks fail does not throw: check `status` (`done`, `error` or
 * `cancelled`) and the counts in `tasks`. Aborting `signal` stops the waiting, not the job.
 */
export async function runJob(options: RunJobOptions): Promise<JobOutcome> {
  const { apiUrl, token, addressUrl, fetch, signal, pollMs, onProgress, onUnreachable, onCreated, ...input } = options;
  const client = createClient({ apiUrl, token, addressUrl, fetch });
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
