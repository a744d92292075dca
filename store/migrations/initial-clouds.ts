// The latest findings of cloud checks.
import type { Db } from '../tables.ts';

export async function clouds(db: Db): Promise<void> {
  await db.schema
    .createTable('cloud_checks')
    .addColumn('provider', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('fix', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('cloud_checks_key', ['provider', 'name'])
    .execute();
}
