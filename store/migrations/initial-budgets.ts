// Budgets, and their counts.
import type { Db } from '../tables.ts';

/** Each budget has its last count: admissions read it, and replicas see which warnings were sent. */
export async function budgets(db: Db): Promise<void> {
  await db.schema
    .createTable('budgets')
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('period', 'text', (column) => column.notNull())
    .addColumn('micros', 'bigint', (column) => column.notNull())
    .addColumn('warn_percent', 'integer', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('counted_at_ms', 'bigint')
    .addColumn('counted_from_ms', 'bigint')
    .addColumn('counted_micros', 'bigint')
    .addColumn('counted_micros_per_hour', 'bigint')
    .addColumn('counted_level', 'text')
    .addPrimaryKeyConstraint('budgets_key', ['workspace', 'name'])
    .execute();
}
