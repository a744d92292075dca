// The first schema: schedules of jobs and their runs.
import type { Db } from '../tables.ts';
import { index } from './helpers.ts';

export async function schedules(db: Db): Promise<void> {
  await db.schema
    .createTable('schedules')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('cron', 'text', (column) => column.notNull())
    .addColumn('timezone', 'text', (column) => column.notNull())
    .addColumn('overlap', 'text', (column) => column.notNull())
    .addColumn('is_paused', 'integer', (column) => column.notNull())
    .addColumn('stopped', 'text')
    .addColumn('user_name', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('command', 'text', (column) => column.notNull())
    .addColumn('last_job', 'bigint')
    .addColumn('version', 'bigint', (column) => column.notNull())
    .addColumn('synced_version', 'bigint', (column) => column.notNull())
    .addColumn('is_deleted', 'integer', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'schedules_of_workspace', 'schedules', ['workspace', 'name']);
  await db.schema
    .createTable('schedule_runs')
    .addColumn('run', 'text', (column) => column.primaryKey())
    .addColumn('schedule', 'text', (column) => column.notNull())
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('job', 'bigint')
    .addColumn('text', 'text')
    .addColumn('claimed_until_ms', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'schedule_runs_due', 'schedule_runs', ['state', 'claimed_until_ms']);
  await index(db, 'schedule_runs_of_schedule', 'schedule_runs', ['schedule', 'at_ms']);
}
