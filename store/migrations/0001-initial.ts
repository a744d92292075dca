// The first schema. Uses column types that both databases have: text, integer and bigint.
import { sql } from 'kysely';

import type { Engine } from '../database.ts';
import type { Db } from '../tables.ts';
import { index } from './helpers.ts';
import { approvals } from './initial-approvals.ts';
import { clouds } from './initial-clouds.ts';
import { budgets } from './initial-budgets.ts';
import { environments } from './initial-environments.ts';
import { logins } from './initial-logins.ts';
import { notifications } from './initial-notifications.ts';
import { schedules } from './initial-schedules.ts';

export async function initial(db: Db, engine: Engine): Promise<void> {
  await deployment(db);
  await people(db, engine);
  await logins(db);
  await records(db);
  await admissions(db);
  await liveness(db);
  await costs(db);
  await history(db);
  await environments(db);
  await notifications(db, engine);
  await budgets(db);
  await approvals(db);
  await clouds(db);
  await schedules(db);
}

async function deployment(db: Db): Promise<void> {
  await db.schema
    .createTable('deployment')
    .addColumn('singleton', 'integer', (column) => column.primaryKey().check(sql`singleton = 1`))
    .addColumn('deployment_id', 'text')
    .addColumn('created_at_ms', 'bigint')
    .addColumn('next_number', 'bigint', (column) => column.notNull())
    .addColumn('object_store_id', 'text')
    .addColumn('temporal_namespace', 'text')
    .addColumn('temporal_namespace_id', 'text')
    .addColumn('keys', 'text')
    .execute();
  await sql`insert into deployment (singleton, next_number) values (1, 1)`.execute(db);
}

async function people(db: Db, engine: Engine): Promise<void> {
  await db.schema
    .createTable('workspaces')
    .addColumn('slug', 'text', (column) => column.primaryKey())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('limits', 'text', (column) => column.notNull())
    .addColumn('per_user', 'text', (column) => column.notNull())
    .addColumn('defaults', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('users')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('limits', 'text', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('users_name', ['workspace', 'name'])
    .execute();
  await db.schema
    .createTable('tokens')
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('secret_hash', 'text', (column) => column.notNull())
    .addColumn('user_name', 'text', (column) => column.notNull())
    // Not a foreign key: the token of a removed user stays in lists until it is deleted.
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('created_by', 'text')
    .addColumn('expires_at_ms', 'bigint')
    .addColumn('revoked_at_ms', 'bigint')
    .addPrimaryKeyConstraint('tokens_key', ['workspace', 'id'])
    .execute();
  await index(db, 'tokens_of_user', 'tokens', ['workspace', 'user_id']);
  await db.schema
    .createTable('people_events')
    .addColumn('id', engine === 'postgres' ? 'bigserial' : 'integer', (column) =>
      engine === 'postgres' ? column.primaryKey() : column.primaryKey().autoIncrement(),
    )
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('by_user', 'text')
    .addColumn('code', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .execute();
  await index(db, 'people_events_of_workspace', 'people_events', ['workspace', 'id']);
}

async function records(db: Db): Promise<void> {
  await db.schema
    .createTable('records')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('number', 'bigint', (column) => column.notNull())
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('job', 'bigint')
    .addColumn('retry_of', 'bigint')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('user_name', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('admission_id', 'text', (column) => column.notNull())
    .addColumn('spec_ref', 'text', (column) => column.notNull())
    .addColumn('is_private', 'integer', (column) => column.notNull())
    .addColumn('instances', 'integer', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('ended_at_ms', 'bigint')
    .addColumn('claimed_until_ms', 'bigint')
    .addColumn('host_queue', 'text')
    // Among admitted rows the highest priority is started first.
    .addColumn('priority', 'integer', (column) => column.notNull())
    .addColumn('missing_since_ms', 'bigint')
    // The last signalled reason for which a budget forbids the cluster's launches.
    .addColumn('held', 'text')
    .addColumn('view_version', 'bigint', (column) => column.notNull())
    .addColumn('view_at_ms', 'bigint')
    .addColumn('search_name', 'text', (column) => column.notNull())
    .addColumn('search_command', 'text', (column) => column.notNull())
    // Long columns come last: SQLite reads a row from its start, and a search does not need them.
    .addColumn('refusal', 'text')
    .addColumn('command', 'text', (column) => column.notNull())
    .addColumn('view', 'text')
    .addPrimaryKeyConstraint('records_key', ['kind', 'number'])
    .execute();
  // All columns that lists filter by: a search reads only this index, and the rows of its page.
  const filters = ['workspace', 'kind', 'number', 'state', 'status', 'user_name', 'created_at_ms', 'job', 'is_private'];
  const listed = [...filters, 'search_name', 'search_command'];
  await index(db, 'records_list', 'records', listed);
  await sql`create index records_not_ended on records (${sql.raw(listed.join(', '))}) where state <> 'ended'`.execute(
    db,
  );
  await index(db, 'records_by_status', 'records', ['workspace', 'kind', 'status', 'number']);
  await index(db, 'records_by_user', 'records', ['workspace', 'kind', 'user_name', 'number']);
  await index(db, 'records_by_name', 'records', ['workspace', 'kind', 'name', 'number']);
  await sql`create unique index records_open_retry on records (workspace, retry_of) where state <> 'ended'`.execute(db);
  await sql`create index records_startable on records (priority desc, number) where state = 'admitted'`.execute(db);
  await sql`create index records_on_host on records (host_queue, number) where state <> 'ended' and host_queue is not null`.execute(
    db,
  );
  await sql`create index records_open on records (kind, number) where state = 'open'`.execute(db);
}

async function admissions(db: Db): Promise<void> {
  await db.schema
    .createTable('open_names')
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('number', 'bigint', (column) => column.notNull().unique())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('admission_id', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('open_names_key', ['workspace', 'name'])
    .execute();
  await db.schema
    .createTable('reservations')
    .addColumn('number', 'bigint', (column) => column.primaryKey())
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('user_name', 'text', (column) => column.notNull())
    .addColumn('instances', 'integer', (column) => column.notNull())
    .addColumn('vcpus', 'integer', (column) => column.notNull())
    .addColumn('worker_vcpus', 'integer', (column) => column.notNull())
    .addColumn('share', 'text')
    .addColumn('has', 'text')
    .execute();
  await db.schema
    .createTable('queue_entries')
    .addColumn('number', 'bigint', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('user_name', 'text', (column) => column.notNull())
    .addColumn('admission_id', 'text', (column) => column.notNull())
    .addColumn('priority', 'integer', (column) => column.notNull())
    .addColumn('instances', 'integer', (column) => column.notNull())
    .addColumn('vcpus', 'integer', (column) => column.notNull())
    .addColumn('worker_vcpus', 'integer', (column) => column.notNull())
    .addColumn('is_ready', 'integer', (column) => column.notNull())
    .addColumn('awaits_approval', 'integer', (column) => column.notNull())
    .addColumn('refusal', 'text')
    .addColumn('hold', 'text')
    .execute();
  await index(db, 'queue_entries_ready', 'queue_entries', ['is_ready', 'workspace']);
  await db.schema
    .createTable('job_waits')
    .addColumn('number', 'bigint', (column) => column.notNull())
    .addColumn('awaited', 'bigint', (column) => column.notNull())
    .addColumn('needs_success', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('job_waits_key', ['number', 'awaited'])
    .execute();
  await index(db, 'job_waits_awaited', 'job_waits', ['awaited']);
  // All columns of the sums, which are computed from the index alone.
  await index(db, 'reservations_use', 'reservations', ['workspace', 'user_name', 'instances', 'vcpus']);
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('number', 'bigint', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('admission_id', 'text', (column) => column.notNull())
    .addColumn('body_hash', 'text', (column) => column.notNull())
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('named', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_key', ['workspace', 'key'])
    .execute();
  await index(db, 'idempotency_keys_age', 'idempotency_keys', ['workspace', 'at_ms']);
  await db.schema
    .createTable('deferred_commands')
    // A hash of kind, number and tasks, which are too long for an index row of PostgreSQL.
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('number', 'bigint', (column) => column.notNull())
    .addColumn('workspace', 'text', (column) => column.notNull())
    .addColumn('tasks', 'text', (column) => column.notNull())
    .addColumn('by_user', 'text', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .execute();
}

/** Times of agents' last reports: written in batches by the API; losing them is harmless. */
async function liveness(db: Db): Promise<void> {
  await db.schema
    .createTable('liveness')
    .addColumn('cluster', 'bigint', (column) => column.notNull())
    .addColumn('instance', 'text', (column) => column.notNull())
    .addColumn('heard_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('since_ms', 'bigint', (column) => column.notNull())
    .addColumn('silent_after_ms', 'bigint', (column) => column.notNull())
    .addColumn('due_at_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('liveness_key', ['cluster', 'instance'])
    .execute();
  await index(db, 'liveness_due', 'liveness', ['due_at_ms']);
  await db.schema
    .createTable('replica')
    .addColumn('replica', 'text', (column) => column.primaryKey())
    .addColumn('wrote_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('since_ms', 'bigint', (column) => column.notNull())
    .execute();
}

/** The cost ledger: one row for each instance ever launched, including those of ended clusters. */
async function costs(db: Db): Promise<void> {
  await db.schema
    .createTable('costs')
    .addColumn('cluster', 'bigint', (column) => column.notNull())
    .addColumn('instance', 'text', (column) => column.notNull())
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('zone', 'text', (column) => column.notNull())
    .addColumn('market', 'text', (column) => column.notNull())
    .addColumn('micros_per_hour', 'bigint', (column) => column.notNull())
    .addColumn('disk_micros_per_hour', 'bigint', (column) => column.notNull())
    .addColumn('address_micros_per_hour', 'bigint', (column) => column.notNull())
    .addColumn('later_prices', 'text')
    .addColumn('price_source', 'text', (column) => column.notNull())
    .addColumn('tags', 'text')
    .addColumn('from_ms', 'bigint', (column) => column.notNull())
    .addColumn('to_ms', 'bigint')
    .addPrimaryKeyConstraint('costs_key', ['cluster', 'instance'])
    .execute();
  await index(db, 'costs_of_workspace', 'costs', ['workspace', 'to_ms']);
}

/** The changes of each cluster, including ended ones. */
async function history(db: Db): Promise<void> {
  await db.schema
    .createTable('cluster_history')
    .addColumn('cluster', 'bigint', (column) => column.notNull())
    .addColumn('seq', 'bigint', (column) => column.notNull())
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('cluster_history_key', ['cluster', 'seq'])
    .execute();
}
