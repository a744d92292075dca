// Notifications, webhooks and deliveries.
import type { Problem } from '../domain/errors.ts';
import { maxObjectWebhooks, maxWebhooks } from '../domain/notifications/delivery.ts';
import { createShares, type Place, type Shares } from '../domain/notifications/fair-share.ts';
import type { Database } from './database.ts';
import {
  deliveryOf,
  insertDelivery,
  insertNotification,
  notificationOfRow,
  webhookOf,
  webhookRow,
} from './notification-rows.ts';
import type { DueDelivery, NotificationStore, Webhook } from './notification-port.ts';
import { lockWorkspace } from './people-rows.ts';
import type { Db } from './tables.ts';
import { noWorkspace } from './workspaces.ts';

export function createNotificationStore(database: Database): NotificationStore {
  const { engine } = database;
  return {
    add: (item, nowMs) => database.write((db) => insertNotification(db, item, nowMs)),
    list: async (workspace, { before, limit, types }) => {
      const rows = await database.read((db) =>
        db
          .selectFrom('notifications')
          .selectAll()
          .where('workspace', '=', workspace)
          .$if(before !== null, (query) => query.where('id', '<', before ?? 0))
          .$if(types !== undefined, (query) => query.where('type', 'in', types ?? []))
          .orderBy('id', 'desc')
          .limit(limit)
          .execute(),
      );
      return rows.map(notificationOfRow);
    },
    addWebhook: (webhook) =>
      database.write(async (db) => {
        if ((await lockWorkspace(db, engine, webhook.workspace)) === null)
          return { error: noWorkspace(webhook.workspace) };
        const isOfAll = webhook.object === null;
        const alike = (await webhooksOf(db, webhook.workspace)).filter(({ object }) => (object === null) === isOfAll);
        const max = isOfAll ? maxWebhooks : maxObjectWebhooks;
        if (alike.length >= max) return { error: tooMany(max, isOfAll) };
        await db.insertInto('webhooks').values(webhookRow(webhook)).execute();
        return { ok: webhook };
      }),
    listWebhooks: (workspace) => database.read((db) => webhooksOf(db, workspace)),
    findWebhook: async (workspace, id) => {
      const all = await database.read((db) => webhooksOf(db, workspace));
      return all.find((each) => each.id === id) ?? null;
    },
    findAnyWebhook: async (id) => {
      const row = await database.read((db) =>
        db.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst(),
      );
      return row === undefined ? null : webhookOf(row);
    },
    removeWebhook: (workspace, id) =>
      database.write(async (db) => {
        const known = (await webhooksOf(db, workspace)).find((each) => each.id === id) ?? null;
        if (known === null) return null;
        await db.deleteFrom('deliveries').where('webhook', '=', id).execute();
        await db.deleteFrom('webhooks').where('id', '=', id).execute();
        return known;
      }),
    addTest: ({ id, workspace }, nowMs) =>
      database.write(async (db) => {
        const text = 'This is a test of a webhook.';
        const item = { workspace, object: `webhook/${id}`, type: 'webhook.test' as const, text, data: { webhook: id } };
        const { id: notification } = await db
          .insertInto('notifications')
          .values({ ...item, data: JSON.stringify(item.data), once: null, at_ms: nowMs })
          .returning('id')
          .executeTakeFirstOrThrow();
        return insertDelivery(db, { webhook: id, workspace, notification, object: item.object, nowMs });
      }),
    claimDeliveries: async ({ limit, underWay, nowMs, claimUntilMs }) => {
      const shares = createShares(underWay);
      // Usually there is none: no lock is needed.
      const waiting = await database.read((db) => due(db, { nowMs, limit: 1, full: shares.full() }).execute());
      if (waiting.length === 0) return [];
      return database.write(async (db) => {
        const claimed: DueDelivery[] = [];
        // Of each round at least the first is claimed or deleted, because it was none of the full ones.
        for (;;) {
          const rows = await due(db, { nowMs, limit: limit - claimed.length, full: shares.full() })
            .$if(engine === 'postgres', (each) => each.forUpdate('deliveries').skipLocked())
            .execute();
          for (const row of rows) {
            if (!shares.take(row)) continue;
            const delivery = await claimOne(db, row, claimUntilMs);
            if (delivery !== null) claimed.push(delivery);
          }
          if (rows.length === 0 || claimed.length === limit) return claimed;
        }
      });
    },
    countMail: ({ workspace, hour, most }) =>
      database.write(async (db) => {
        const counted = await db
          .insertInto('mail_hours')
          .values({ workspace, hour, sent: 1 })
          .onConflict((conflict) =>
            conflict
              .column('workspace')
              .doUpdateSet((build) => ({
                hour,
                sent: build
                  .case()
                  .when('mail_hours.hour', '=', hour)
                  .then(build('mail_hours.sent', '+', 1))
                  .else(1)
                  .end(),
              }))
              .where((build) => build.or([build('mail_hours.hour', '!=', hour), build('mail_hours.sent', '<', most)])),
          )
          .returning('sent')
          .executeTakeFirst();
        return counted !== undefined;
      }),
    postponeDelivery: ({ id, claimedUntilMs }, nextAtMs) =>
      database.write(async (db) => {
        await db
          .updateTable('deliveries')
          .set({ next_at_ms: nextAtMs })
          .where('id', '=', id)
          .where('state', '=', 'pending')
          .where('next_at_ms', '=', claimedUntilMs)
          .execute();
      }),
    settleDelivery: ({ id, claimedUntilMs }, { state, nextAtMs, status, error, gone }, nowMs) =>
      database.write(async (db) => {
        const row = await db
          .updateTable('deliveries')
          .set((build) => ({
            ...{ state, status, error, next_at_ms: nextAtMs, at_ms: nowMs },
            attempts: build('attempts', '+', 1),
          }))
          .where('id', '=', id)
          .where('state', '=', 'pending')
          .where('next_at_ms', '=', claimedUntilMs)
          .returning('webhook')
          .executeTakeFirst();
        if (!gone || row === undefined) return;
        await db.updateTable('webhooks').set({ disabled_at_ms: nowMs }).where('id', '=', row.webhook).execute();
        const rest = { state: 'failed' as const, next_at_ms: null, error: 'its receiver asked for no more' };
        await db
          .updateTable('deliveries')
          .set(rest)
          .where('webhook', '=', row.webhook)
          .where('state', '=', 'pending')
          .execute();
      }),
    listDeliveries: async (workspace, { webhook, before, limit }) => {
      const rows = await database.read((db) =>
        db
          .selectFrom('deliveries')
          .innerJoin('notifications', 'notifications.id', 'deliveries.notification')
          .selectAll('deliveries')
          .select('notifications.type')
          .where('deliveries.workspace', '=', workspace)
          .$if(webhook !== null, (query) => query.where('webhook', '=', webhook ?? ''))
          .$if(before !== null, (query) => query.where('deliveries.id', '<', before ?? 0))
          .orderBy('deliveries.id', 'desc')
          .limit(limit)
          .execute(),
      );
      return rows.map(deliveryOf);
    },
    removeBefore: (atMs) =>
      database.write(async (db) => {
        const old = db.selectFrom('notifications').select('id').where('at_ms', '<', atMs);
        await db.deleteFrom('deliveries').where('notification', 'in', old).execute();
        await db.deleteFrom('notifications').where('at_ms', '<', atMs).execute();
      }),
  };
}

type DueRow = Pick<DueDelivery, 'id' | 'attempts'> & Place & { notification: number };

/** Null, and it is deleted, when its webhook or notification is gone. */
async function claimOne(db: Db, { id, attempts, ...of }: DueRow, claimUntilMs: number): Promise<DueDelivery | null> {
  const subscription = await db.selectFrom('webhooks').selectAll().where('id', '=', of.webhook).executeTakeFirst();
  const what = await db.selectFrom('notifications').selectAll().where('id', '=', of.notification).executeTakeFirst();
  if (subscription === undefined || what === undefined) {
    await db.deleteFrom('deliveries').where('id', '=', id).execute();
    return null;
  }
  await db.updateTable('deliveries').set({ next_at_ms: claimUntilMs }).where('id', '=', id).execute();
  return {
    ...{ id, attempts, claimedUntilMs: claimUntilMs },
    ...{ webhook: webhookOf(subscription), notification: notificationOfRow(what) },
  };
}

const due = (db: Db, { limit, nowMs, full }: { limit: number; nowMs: number; full: ReturnType<Shares['full']> }) =>
  db
    .selectFrom('deliveries')
    .select(['id', 'attempts', 'webhook', 'workspace', 'notification'])
    .where('state', '=', 'pending')
    .where('next_at_ms', '<=', nowMs)
    .$if(full.workspaces.length > 0, (query) => query.where('workspace', 'not in', full.workspaces))
    .$if(full.webhooks.length > 0, (query) => query.where('webhook', 'not in', full.webhooks))
    .where((build) =>
      build.not(
        build.exists(
          build
            .selectFrom('deliveries as earlier')
            .select('earlier.id')
            .whereRef('earlier.webhook', '=', 'deliveries.webhook')
            .whereRef('earlier.object', '=', 'deliveries.object')
            .whereRef('earlier.id', '<', 'deliveries.id')
            .where('earlier.state', '=', 'pending'),
        ),
      ),
    )
    .orderBy('id')
    .limit(limit);

async function webhooksOf(db: Db, workspace: string): Promise<Webhook[]> {
  const rows = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('workspace', '=', workspace)
    .orderBy('created_at_ms')
    .orderBy('id')
    .execute();
  return rows.map(webhookOf);
}

const tooMany = (max: number, isOfAll: boolean): Problem => ({
  code: 'LIMIT_EXCEEDED',
  message: `This workspace has ${max} webhooks${isOfAll ? '' : ' of single jobs and clusters'}, which is the most.`,
  hint: isOfAll ? 'Delete one first.' : 'Delete those of ended jobs and clusters first: `ropewalk webhook list`.',
});
