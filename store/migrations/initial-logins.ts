// The first schema: sign-ins that wait for a person, and accounts of the identity provider.
import type { Db } from '../tables.ts';
import { index } from './helpers.ts';

export async function logins(db: Db): Promise<void> {
  await db.schema
    .createTable('device_logins')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('client', 'text', (column) => column.notNull())
    .addColumn('place', 'text')
    .addColumn('secret_hash', 'text', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('approved', 'integer')
    .addColumn('workspace', 'text')
    .addColumn('user_name', 'text')
    .addColumn('token_id', 'text')
    .addColumn('scopes', 'text')
    .addColumn('token_expires_at_ms', 'bigint')
    .execute();
  await index(db, 'device_logins_expiry', 'device_logins', ['expires_at_ms']);
  await db.schema
    .createTable('identities')
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    // Not a foreign key: the row of a removed user refuses their account.
    .addColumn('user_id', 'text', (column) => column.notNull().unique())
    .addColumn('email', 'text')
    .addColumn('tied_at_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('identities_key', ['issuer', 'subject', 'workspace'])
    .execute();
  // Addresses of users whom an admin has removed: another account with that address is refused, too.
  await db.schema
    .createTable('removed_users')
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('removed_at_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('removed_users_key', ['name', 'workspace'])
    .execute();
  await index(db, 'users_of_name', 'users', ['name']);
}
