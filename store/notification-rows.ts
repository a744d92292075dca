// Rows of notifications: a change of a job or cluster adds one in the transaction that writes its state.
import {
  idleGpuNotification,
  idleNotification,
  isAbout,
  isSubscribed,
  notificationOf,
  type NewNotification,
  type Subject,
} from '../domain/notifications/types.ts';
import type { Delivery, Notification, Webhook } from './notification-port.ts';
import type { AnyView } from './record-rows.ts';
import type { RecordKind } from './admission-port.ts';
import type { DeliveryTable, NotificationTable, WebhookTable } from './notification-tables.ts';
import type { Db } from './tables.ts';
import { storable } from './text.ts';

export async function insertNotification(db: Db, item: NewNotification, nowMs: number): Promise<boolean> {
  const { workspace, type, object, text, data, once = null } = item;
  const row = await db
    .insertInto('notifications')
    .values({ workspace, type, object, text: storable(text), data: storable(JSON.stringify(data)), once, at_ms: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) return false;
  const webhooks = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('workspace', '=', workspace)
    .where('disabled_at_ms', 'is', null)
    .execute();
  for (const webhook of webhooks.map(webhookOf)) {
    if (!isSubscribed(webhook.events, type) || !isAbout(webhook.object, object)) continue;
    await insertDelivery(db, { webhook: webhook.id, workspace, notification: row.id, object, nowMs });
  }
  return true;
}

interface NewDelivery extends Pick<Delivery, 'webhook' | 'notification' | 'object'> {
  workspace: string;
  nowMs: number;
}

export async function insertDelivery(
  db: Db,
  { webhook, workspace, notification, object, nowMs }: NewDelivery,
): Promise<number> {
  const { id } = await db
    .insertInto('deliveries')
    .values({
      ...{
        webhook,
        workspace,
        notification,
        object,
        state: 'pending' as const,
        attempts: 0,
        status: null,
        error: null,
      },
      ...{ next_at_ms: nowMs, at_ms: nowMs },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Notifies of a written view. Skips a job's cluster, because the job notifies. */
export async function notifyOfView(db: Db, kind: RecordKind, view: AnyView, nowMs: number): Promise<void> {
  if (kind === 'cluster' && view.job !== null && view.job !== undefined) return;
  const row = await db
    .selectFrom('records')
    .select(['is_private', 'user_name'])
    .where('kind', '=', kind)
    .where('number', '=', view.number)
    .executeTakeFirst();
  if (row === undefined) return;
  const { number, workspace, name, status } = view;
  const { reason = null, tasks } = view;
  const subject: Subject = { kind, number, workspace, name, user: row.user_name, status, reason };
  if (tasks !== undefined) {
    const { total, done, error, cancelled } = tasks;
    subject.tasks = { total, done, error, cancelled };
  }
  const item = notificationOf(subject, row.is_private === 1);
  if (item !== null) await insertNotification(db, item, nowMs);
}

/** Notifies of a view with an idle GPU, also of a job's cluster. */
export async function notifyOfIdleGpus(db: Db, view: AnyView, nowMs: number): Promise<void> {
  const { number, workspace, name, gpus } = view;
  if (gpus === undefined || gpus === null || gpus.idle === 0) return;
  const query = db.selectFrom('records').select('user_name').where('kind', '=', 'cluster').where('number', '=', number);
  const row = await query.executeTakeFirst();
  if (row === undefined) return;
  await insertNotification(db, idleGpuNotification({ number, workspace, name, user: row.user_name }, gpus), nowMs);
}

/** Notifies of a view of a Dask cluster that was idle for long. */
export async function notifyOfIdle(db: Db, view: AnyView, nowMs: number): Promise<void> {
  const { number, workspace, name, dask } = view;
  if (dask?.idleWarned !== true || dask.idleSinceMs === null) return;
  const query = db.selectFrom('records').select('user_name').where('kind', '=', 'cluster').where('number', '=', number);
  const row = await query.executeTakeFirst();
  if (row === undefined) return;
  const subject = { number, workspace, name, user: row.user_name };
  await insertNotification(db, idleNotification(subject, dask.idleSinceMs), nowMs);
}

/** Notifies of a job that ended before its workflow started. */
export async function notifyOfRow(db: Db, kind: RecordKind, number: number, nowMs: number): Promise<void> {
  const row = await db
    .selectFrom('records')
    .select(['workspace', 'name', 'user_name', 'status', 'refusal', 'is_private'])
    .where('kind', '=', kind)
    .where('number', '=', number)
    .executeTakeFirst();
  if (row === undefined) return;
  const { workspace, name, user_name: user, status } = row;
  const reason = row.refusal === null ? null : (JSON.parse(row.refusal) as NonNullable<Subject['reason']>);
  const item = notificationOf({ kind, number, workspace, name, user, status, reason }, row.is_private === 1);
  if (item !== null) await insertNotification(db, item, nowMs);
}

export const notificationOfRow = (row: Omit<NotificationTable, 'id'> & { id: number }): Notification => ({
  ...{ id: row.id, workspace: row.workspace, type: row.type, object: row.object, text: row.text, atMs: row.at_ms },
  data: JSON.parse(row.data) as Record<string, unknown>,
});

export const webhookOf = (row: WebhookTable): Webhook => ({
  ...{ id: row.id, workspace: row.workspace, origin: row.origin, events: row.events.split(','), format: row.format },
  ...{ object: row.object, approverToken: row.approver_token, description: row.description, user: row.user_name },
  ...{ disabledAtMs: row.disabled_at_ms, createdAtMs: row.created_at_ms },
});

export const webhookRow = (webhook: Webhook): WebhookTable => ({
  ...{ id: webhook.id, workspace: webhook.workspace, origin: webhook.origin, events: webhook.events.join(',') },
  ...{
    object: webhook.object,
    approver_token: webhook.approverToken,
    format: webhook.format,
    description: storable(webhook.description),
    user_name: webhook.user,
  },
  ...{ disabled_at_ms: webhook.disabledAtMs, created_at_ms: webhook.createdAtMs },
});

export const deliveryOf = (
  row: Omit<DeliveryTable, 'id'> & { id: number; type: NotificationTable['type'] },
): Delivery => ({
  ...{ id: row.id, webhook: row.webhook, notification: row.notification, type: row.type, object: row.object },
  ...{ state: row.state, attempts: row.attempts, status: row.status, error: row.error },
  ...{ nextAtMs: row.next_at_ms, atMs: row.at_ms },
});
