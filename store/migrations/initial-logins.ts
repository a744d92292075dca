// The first schema: sign-ins that wait for a person, links in e-mails, and accounts of the identity provider.
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
  // One row for each address, so a newer link replaces the older one; the row stays for an hour, for its count.
  await db.schema
    .createTable('mail_links')
    .addColumn('address', 'text', (column) => column.primaryKey())
    .addColumn('link_hash', 'text', (column) => column.notNull().unique())
    .addColumn('browser_hash', 'text', (column) => column.notNull())
    .addColumn('user_ids', 'text', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('used_at_ms', 'bigint')
    .addColumn('hour', 'bigint', (column) => column.notNull())
    .addColumn('sent', 'integer', (column) => column.notNull())
    .execute();
  await index(db, 'mail_links_by_hour', 'mail_links', ['hour', 'sent']);
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
