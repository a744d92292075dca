// The first schema: notifications, webhooks and deliveries.
import type { Engine } from '../database.ts';
import type { Db } from '../tables.ts';
import { index } from './helpers.ts';

/** Events, their subscriptions, and the deliveries. Ids ascend in the order in which an object's deliveries are sent. */
export async function notifications(db: Db, engine: Engine): Promise<void> {
  const id = engine === 'postgres' ? 'bigserial' : 'integer';
  await db.schema
    .createTable('notifications')
    .addColumn('id', id, (column) =>
      engine === 'postgres' ? column.primaryKey() : column.primaryKey().autoIncrement(),
    )
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('object', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .addColumn('once', 'text')
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('notifications_once', ['workspace', 'once'])
    .execute();
  await index(db, 'notifications_of_workspace', 'notifications', ['workspace', 'id']);
  await index(db, 'notifications_age', 'notifications', ['at_ms']);
  await db.schema
    .createTable('webhooks')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('workspace', 'text', (column) => column.notNull().references('workspaces.slug'))
    .addColumn('origin', 'text', (column) => column.notNull())
    .addColumn('events', 'text', (column) => column.notNull())
    .addColumn('object', 'text')
    .addColumn('approver_token', 'text')
    .addColumn('format', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('user_name', 'text', (column) => column.notNull())
    .addColumn('disabled_at_ms', 'bigint')
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'webhooks_of_workspace', 'webhooks', ['workspace']);
  await db.schema
    .createTable('deliveries')
    .addColumn('id', id, (column) =>
      engine === 'postgres' ? column.primaryKey() : column.primaryKey().autoIncrement(),
    )
    .addColumn('webhook', 'text', (column) => column.notNull())
    .addColumn('workspace', 'text', (column) => column.notNull())
    .addColumn('notification', 'bigint', (column) => column.notNull())
    .addColumn('object', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('status', 'integer')
    .addColumn('error', 'text')
    .addColumn('next_at_ms', 'bigint')
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('mail_hours')
    .addColumn('workspace', 'text', (column) => column.primaryKey().references('workspaces.slug'))
    .addColumn('hour', 'bigint', (column) => column.notNull())
    .addColumn('sent', 'integer', (column) => column.notNull())
    .execute();
  await index(db, 'deliveries_due', 'deliveries', ['state', 'next_at_ms']);
  await index(db, 'deliveries_in_order', 'deliveries', ['webhook', 'object', 'state', 'id']);
  await index(db, 'deliveries_of_notification', 'deliveries', ['notification']);
}
