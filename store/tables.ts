// The tables, as the queries see them. Times are milliseconds since 1970, flags are 0 or 1, and JSON is text, so that both
// databases return the same values.
import type { Generated, Kysely } from 'kysely';

import type { BudgetAction, BudgetPeriod } from '../domain/budget/budget.ts';
import type { BudgetLevel } from '../domain/budget/standing.ts';
import type { Market } from '../domain/offers/offer.ts';
import type { Role } from '../domain/people/state.ts';
import type { RecordState } from './store.ts';
import type { RecordKind } from './admission-port.ts';
import type { DeliveryTable, MailHourTable, NotificationTable, WebhookTable } from './notification-tables.ts';
import type { ApprovalRuleTable, ApprovalTable, QueueEntryTable } from './queue-tables.ts';
import type { ScheduleRunTable, ScheduleTable } from './schedule-tables.ts';

export interface Tables {
  schema_version: { version: number; applied_at_ms: number };
  deployment: DeploymentTable;
  workspaces: WorkspaceTable;
  users: UserTable;
  tokens: TokenTable;
  people_events: PeopleEventTable;
  device_logins: DeviceLoginTable;
  identities: IdentityTable;
  mail_links: MailLinkTable;
  removed_users: { workspace: string; name: string; removed_at_ms: number };
  records: RecordTable;
  open_names: { workspace: string; name: string; number: number; kind: RecordKind; admission_id: string };
  reservations: ReservationTable;
  queue_entries: QueueEntryTable;
  job_waits: { number: number; awaited: number; needs_success: number };
  idempotency_keys: IdempotencyKeyTable;
  deferred_commands: DeferredCommandTable;
  liveness: LivenessTable;
  costs: CostTable;
  cluster_history: { cluster: number; seq: number; at_ms: number; body: string };
  environments: EnvironmentTable;
  shared_builds: SharedBuildTable;
  notifications: NotificationTable;
  webhooks: WebhookTable;
  deliveries: DeliveryTable;
  mail_hours: MailHourTable;
  budgets: BudgetTable;
  approval_rules: ApprovalRuleTable;
  approvals: ApprovalTable;
  cloud_checks: { provider: string; name: string; at_ms: number; state: 'ok' | 'broken'; text: string; fix: string };
  schedules: ScheduleTable;
  schedule_runs: ScheduleRunTable;
  replica: ReplicaTable;
}

export type Db = Kysely<Tables>;

/** One row. The id is null until the deployment has claimed the database. */
interface DeploymentTable {
  singleton: number;
  deployment_id: string | null;
  created_at_ms: number | null;
  next_number: number;
  /** Null until a process has used an object store with this database. */
  object_store_id: string | null;
  /** Null until `ropewalk init` has prepared a Temporal namespace. */
  temporal_namespace: string | null;
  /** The id of that namespace on its server. */
  temporal_namespace_id: string | null;
  /** JSON of the fingerprints of the keys, oldest first. Null until keys have been used with this database. */
  keys: string | null;
}

export interface WorkspaceTable {
  slug: string;
  created_at_ms: number;
  limits: string;
  per_user: string;
  defaults: string;
}

export interface UserTable {
  id: string;
  workspace: string;
  name: string;
  role: Role;
  limits: string;
  created_at_ms: number;
}

export interface TokenTable {
  workspace: string;
  id: string;
  secret_hash: string;
  user_name: string;
  user_id: string;
  scopes: string;
  name: string;
  created_at_ms: number;
  created_by: string | null;
  expires_at_ms: number | null;
  revoked_at_ms: number | null;
}

interface PeopleEventTable {
  id: Generated<number>;
  workspace: string;
  at_ms: number;
  by_user: string | null;
  code: string;
  text: string;
}

export interface DeviceLoginTable {
  key: string;
  client: string;
  place: string | null;
  secret_hash: string;
  expires_at_ms: number;
  /** Null: not decided. */
  approved: number | null;
  workspace: string | null;
  user_name: string | null;
  token_id: string | null;
  /** Comma-separated. */
  scopes: string | null;
  token_expires_at_ms: number | null;
}

/** The newest link that was sent to an address, and the number of links in that hour of the clock. */
export interface MailLinkTable {
  address: string;
  link_hash: string;
  browser_hash: string;
  /** JSON. */
  user_ids: string;
  expires_at_ms: number;
  used_at_ms: number | null;
  hour: number;
  sent: number;
}

/** The user of an identity provider's account in a workspace. */
export interface IdentityTable {
  issuer: string;
  subject: string;
  workspace: string;
  user_id: string;
  /** The address when the account was tied to the user; for display, never compared. */
  email: string | null;
  tied_at_ms: number;
}

/** Jobs and clusters. The cluster that runs a job's tasks has the job's number: the key is kind and number. */
export interface RecordTable {
  kind: RecordKind;
  number: number;
  workspace: string;
  job: number | null;
  retry_of: number | null;
  name: string;
  user_name: string;
  state: RecordState;
  admission_id: string;
  spec_ref: string;
  is_private: number;
  command: string;
  /** In lower case, for the text search. */
  search_name: string;
  search_command: string;
  status: string;
  instances: number;
  created_at_ms: number;
  ended_at_ms: number | null;
  /** Set while a process starts the workflow. */
  claimed_until_ms: number | null;
  /** The queue of its host; null on a cloud. */
  host_queue: string | null;
  priority: number;
  missing_since_ms: number | null;
  held: string | null;
  /** JSON of the refusal. */
  refusal: string | null;
  view_version: number;
  view_at_ms: number | null;
  view: string | null;
}

export interface ReservationTable {
  number: number;
  workspace: string;
  user_name: string;
  instances: number;
  vcpus: number;
  worker_vcpus: number;
  share: string | null;
  has: string | null;
}

interface IdempotencyKeyTable {
  workspace: string;
  key: string;
  number: number;
  name: string;
  admission_id: string;
  body_hash: string;
  at_ms: number;
  named: number;
}

export interface DeferredCommandTable {
  id: string;
  kind: 'stop' | 'cancel';
  number: number;
  tasks: string;
  workspace: string;
  by_user: string;
  created_at_ms: number;
}

/** The time of an agent's last report, its start without a gap, and when its silence is due. */
export interface LivenessTable {
  cluster: number;
  instance: string;
  heard_at_ms: number;
  since_ms: number;
  silent_after_ms: number;
  due_at_ms: number;
}

export interface CostTable {
  cluster: number;
  instance: string;
  workspace: string;
  role: 'head' | 'worker';
  type: string;
  zone: string;
  market: Market;
  micros_per_hour: number;
  disk_micros_per_hour: number;
  address_micros_per_hour: number;
  /** JSON; null without any. */
  later_prices: string | null;
  price_source: string;
  /** JSON; null without tags. */
  tags: string | null;
  from_ms: number;
  /** Null while the instance exists. */
  to_ms: number | null;
}

export interface EnvironmentTable {
  workspace: string;
  name: string;
  hash: string;
  content_ref: string;
  version: number;
  kind: 'environment' | 'container';
  summary: string;
  user_name: string;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface SharedBuildTable {
  workspace: string;
  id: string;
  content: string;
  setup: string | null;
  hash: string;
  platform: string;
  used_at_ms: number;
  /** JSON: a SharedBuild. */
  build: string;
}

export interface BudgetTable {
  workspace: string;
  name: string;
  /** JSON. */
  subject: string;
  period: BudgetPeriod;
  micros: number;
  warn_percent: number;
  action: BudgetAction;
  /** Null until it was counted. */
  counted_at_ms: number | null;
  counted_from_ms: number | null;
  counted_micros: number | null;
  counted_micros_per_hour: number | null;
  counted_level: BudgetLevel | null;
}

/** A replica of the API: when it last wrote its agents' reports, and since when it has listened without a gap. */
export interface ReplicaTable {
  replica: string;
  wrote_at_ms: number;
  since_ms: number;
}
