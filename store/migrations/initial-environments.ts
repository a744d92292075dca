// The first schema: named environments, and environments that instances share.
import type { Db } from '../tables.ts';
import { index } from './helpers.ts';

/** Names of environments; their contents are sealed in the object store. */
export async function environments(db: Db): Promise<void> {
  await db.schema
    .createTable('environments')
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    // Each content belongs to one row: the transaction that replaces it returns the object to delete.
    .addColumn('content_ref', 'text', (column) => column.notNull().unique())
    .addColumn('version', 'bigint', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('summary', 'text', (column) => column.notNull())
    .addColumn('user_name', 'text', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('environments_key', ['workspace', 'name'])
    .execute();
  await db.schema
    .createTable('shared_builds')
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('setup', 'text')
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('platform', 'text', (column) => column.notNull())
    .addColumn('used_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('build', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('shared_builds_key', ['workspace', 'id'])
    .execute();
  await index(db, 'shared_builds_of_content', 'shared_builds', ['workspace', 'content']);
  await index(db, 'shared_builds_used', 'shared_builds', ['used_at_ms']);
}
