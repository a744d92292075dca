// The first schema: approvals before spend.
import type { Db } from '../tables.ts';
import { index } from './helpers.ts';

/** Decided requests stay as a record of approvals. */
export async function approvals(db: Db): Promise<void> {
  await db.schema
    .createTable('approval_rules')
    .addColumn('workspace', 'text', (column) => column.primaryKey().references('workspaces.slug'))
    .addColumn('micros_per_hour', 'bigint')
    .addColumn('total_micros', 'bigint')
    .addColumn('allow_own', 'integer', (column) => column.notNull())
    .addColumn('timeout_ms', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('approvals')
    .addColumn('number', 'bigint', (column) => column.primaryKey())
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('user_name', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('micros_per_hour', 'bigint')
    .addColumn('total_micros', 'bigint')
    .addColumn('why', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('asked_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('decided_at_ms', 'bigint')
    .addColumn('decided_by', 'text')
    .addColumn('comment', 'text')
    .execute();
  await index(db, 'approvals_of_workspace', 'approvals', ['workspace', 'number']);
  await index(db, 'approvals_due', 'approvals', ['state', 'expires_at_ms']);
}
