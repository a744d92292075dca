// The port to the database of records: users and permissions, requests and their outcomes. Running processes are in Temporal,
// bytes in the object store. Every method is one transaction. `domain/` decides, the store reads and writes. Methods throw
// RopewalkError UNAVAILABLE while the database cannot be reached; a refusal by a rule is a `Problem` in the answer.
import type { ClusterView } from '../contracts/cluster.ts';
import type { JobView } from '../contracts/job.ts';
import type { AdmissionStore, Startable } from './admission-port.ts';
import type { Answer } from './answer.ts';
import type { ApprovalStore } from './approval-port.ts';
import type { CommandStore } from './command-port.ts';
import type { EnvironmentStore } from './environment-port.ts';
import type { BudgetStore } from './budget-port.ts';
import type { DeploymentStore } from './deployment-port.ts';
import type { CloudCheckStore } from './cloud-check-port.ts';
import type { CostStore } from './cost-port.ts';
import type { HistoryStore } from './history-port.ts';
import type { WorkspaceDefaults } from '../domain/people/defaults.ts';
import type { By, IssueToken, IssuedToken, PeopleEvent, PutUser, Token, User, Scope } from '../domain/people/state.ts';
import type { LimitsChange } from '../domain/quota/limits.ts';
import type { ShareKind, ShareRequest, WorkspaceLimits } from '../domain/quota/state.ts';
import type { NotificationStore } from './notification-port.ts';
import type { ScheduleStore } from './schedule-port.ts';
import type { IdentityStore } from './identity-port.ts';
import type { MailLinkStore } from './mail-link-port.ts';
import type { SharedBuildStore } from './shared-build-port.ts';
import type { LivenessStore } from './liveness-port.ts';

export interface Store {
  deployment: DeploymentStore;
  workspaces: WorkspaceStore;
  people: PeopleStore;
  logins: LoginStore;
  identities: IdentityStore;
  mailLinks: MailLinkStore;
  admissions: AdmissionStore;
  jobs: RecordStore<JobView>;
  clusters: RecordStore<ClusterView>;
  quotas: QuotaStore;
  commands: CommandStore;
  liveness: LivenessStore;
  costs: CostStore;
  history: HistoryStore;
  environments: EnvironmentStore;
  sharedBuilds: SharedBuildStore;
  notifications: NotificationStore;
  budgets: BudgetStore;
  approvals: ApprovalStore;
  cloudChecks: CloudCheckStore;
  schedules: ScheduleStore;
  /** Rejects while the database cannot be reached or read. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface Workspace {
  slug: string;
  createdAtMs: number;
  limits: WorkspaceLimits;
  /** For each user without own limits. */
  perUser: Partial<WorkspaceLimits>;
  defaults: WorkspaceDefaults;
}

export interface WorkspaceStore {
  /**
   * Creates the workspace with its first admin and that admin's token. An existing workspace without users gets them; one with
   * users is a CONFLICT.
   */
  create(input: {
    slug: string;
    admin: { name: string; token: { id: string; secretHash: string; expiresAtMs: number | null } };
    nowMs: number;
  }): Promise<Answer<IssuedToken>>;
  find(slug: string): Promise<Workspace | null>;
  /** By slug. */
  list(): Promise<Workspace[]>;
  /** Changes only the given limits; `perUser: null` removes the limits of each user. */
  configure(
    slug: string,
    change: { limits: Partial<WorkspaceLimits>; perUser?: LimitsChange | null; by: By },
    nowMs: number,
  ): Promise<Answer<Workspace>>;
  /** Replaces all defaults. */
  setDefaults(slug: string, change: { defaults: WorkspaceDefaults; by: By }, nowMs: number): Promise<Answer<Workspace>>;
  /** The usage of the workspace, and of each user with usage. */
  usage(slug: string): Promise<{ total: WorkspaceLimits; byUser: { user: string; use: WorkspaceLimits }[] }>;
  /** Changes of users and limits, newest first. */
  events(slug: string, limit: number): Promise<PeopleEvent[]>;
}

export interface PeopleStore {
  listUsers(slug: string): Promise<User[]>;
  putUser(slug: string, item: PutUser, nowMs: number): Promise<Answer<User>>;
  /** Revokes the tokens of the user in the same transaction. */
  removeUser(slug: string, item: { name: string; by: By }, nowMs: number): Promise<Answer<User>>;
  issueToken(slug: string, item: IssueToken, nowMs: number): Promise<Answer<IssuedToken>>;
  /** Idempotent; the first revocation time counts. */
  revokeToken(slug: string, item: { id: string; by: By }, nowMs: number): Promise<Answer<Token>>;
  /** Newest first; of one user, or of all. */
  listTokens(slug: string, query: { user?: string }): Promise<Token[]>;
  /** The current token and user, or null. Never throws for an unknown workspace. */
  findToken(slug: string, id: string): Promise<{ token: Token; user: User | null } | null>;
}

/** A sign-in that waits for a person (OAuth device flow). Only hashes of codes are stored. */
export interface ApprovedLogin {
  approved: true;
  workspace: string;
  user: string;
  /** The approving token. */
  tokenId: string;
  /** Scopes of the device's token. */
  scopes: Scope[];
  tokenExpiresAtMs: number;
}

export interface DeviceLogin {
  client: string;
  /** The address of the sign-in's request, if known. */
  place: string | null;
  secretHash: string;
  expiresAtMs: number;
  decision: ApprovedLogin | { approved: false } | null;
}

export interface LoginStore {
  /** `key`: the keyed hash of the user code. False when the key exists. Deletes expired sign-ins. */
  begin(key: string, login: DeviceLogin, nowMs: number): Promise<boolean>;
  /** Null when unknown or expired. */
  find(key: string, nowMs: number): Promise<DeviceLogin | null>;
  /** Writes the decision once: false when it was decided before, is unknown or has expired. */
  decide(key: string, decision: NonNullable<DeviceLogin['decision']>, nowMs: number): Promise<boolean>;
  /** Deletes it unless it was decided. */
  deleteUndecided(key: string): Promise<void>;
  delete(key: string): Promise<void>;
}

/** `waiting`: in the queue. `admitted`: its workflow must be started. `open`: it was started. `ended`: it has its final view. */
export type RecordState = 'waiting' | 'admitted' | 'open' | 'ended';

export interface StoredRecord<V> {
  number: number;
  workspace: string;
  /** For a job's cluster: the job's number, which is also its own. */
  job: number | null;
  name: string;
  user: string;
  state: RecordState;
  admissionId: string;
  specRef: string;
  privateToCreator: boolean;
  command: string;
  /** Status of the view; `pending` before the first one. */
  status: string;
  instances: number;
  /** The queue of the host that runs its instances as processes; null on a cloud. */
  hostQueue: string | null;
  createdAtMs: number;
  endedAtMs: number | null;
  /** The reason of its wait, or why its workflow was never started; null otherwise: then the view has the reason. */
  refusal: { code: string; text: string } | null;
  /** The workflow's latest view; null before the first one. */
  view: V | null;
  viewVersion: number;
  viewAtMs: number | null;
}

/** All given conditions must hold. */
export interface RecordQuery {
  workspace: string;
  statuses?: readonly string[];
  /** The exact name. */
  name?: string;
  /** Only open ones (not ended). */
  isOpen?: boolean;
  user?: string;
  /** Created at this time or later. */
  sinceMs?: number;
  untilMs?: number;
  /**
   * Part of the name or of the first 400 characters of the command, in any case. Another user's private record matches by its
   * name only.
   */
  search?: { text: string; user: string };
  /** For clusters: `job` selects the clusters of jobs, `dask` the others. */
  kind?: 'job' | 'dask';
  limit: number;
  /** Only smaller numbers. */
  before?: number;
}

export interface RecordStore<V> {
  /** Null also for the number of another workspace. */
  find(workspace: string, number: number): Promise<StoredRecord<V> | null>;
  /** Newest first. An unreadable view is null in its record, and never fails the page. */
  list(query: RecordQuery): Promise<{ items: StoredRecord<V>[]; hasMore: boolean }>;
  /** Writes a view if its version is newer and the row has not ended; creates the row of a job's cluster. */
  project(input: { view: V; version: number; nowMs: number }): Promise<void>;
  /**
   * Writes the final view once; later ones change nothing. `release` releases the number's name and quota (a job's cluster
   * releases the job's reservation, under the same number).
   */
  end(input: { view: V; version: number; release: boolean; nowMs: number }): Promise<void>;
  /** For a workflow without a row (an older database was restored): creates it as `open`, with its reservation and name. */
  adopt(input: Startable & { view: V; vcpus: number }): Promise<boolean>;
  /** Versions of the views of these numbers, and whether they have ended; omits numbers without a row. */
  versions(numbers: readonly number[]): Promise<{ number: number; version: number; ended: boolean }[]>;
  /** Open rows by number, for the reconciliation: not `admitted`, not `ended`. */
  listOpen(query: { after: number; limit: number }): Promise<OpenRecord[]>;
  /** Records since when the workflow of an open row is missing; null: it exists. */
  setMissing(number: number, sinceMs: number | null): Promise<void>;
}

export interface OpenRecord extends Startable {
  job: number | null;
  missingSinceMs: number | null;
}

/** Reservations: one row for each open number, created by its admission. */
export interface QuotaStore {
  /**
   * Reserves a new size's needs before the cluster is signalled. The returned sequence number goes with the signal to the
   * cluster, and then to `settle`. See domain/quota/shares.ts.
   */
  reserve(item: ShareRequest, nowMs: number): Promise<Answer<{ seq: number }>>;
  settle(item: { number: number; kind: ShareKind; seq: number }): Promise<void>;
  /** The cluster workflow's current usage; it counts only if the workflow knows the newest requests. */
  noteUsage(item: { number: number; instances: number; scale: number; adapt: number }): Promise<void>;
}
