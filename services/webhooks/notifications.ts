// The notifications of a workspace, and their deliveries to its webhooks. Other parts of the control plane add notifications here; jobs and clusters
// add theirs in the transaction that writes their state (store/notification-rows.ts).
import { isSubscribed, notificationTypes, type NewNotification } from '../../domain/notifications/types.ts';
import type { DeliveryPage, NotificationPage } from '../../schema/webhooks.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import { parseCursor } from '../list-query.ts';
import { time, timeOrNull } from '../to-wire.ts';

/** Stores the notification in the workspace's list, and delivers it to subscribed webhooks. With `once` set, a repetition changes nothing. */
export const notify = ({ store, now }: Pick<Deps, 'store' | 'now'>, notification: NewNotification): Promise<boolean> =>
  store.notifications.add(notification, now());

interface PageInput {
  after?: string | undefined;
  limit: number;
}

/** Newest first. `event`: only those that this pattern covers. */
export async function listNotifications(
  { deps, actor }: Context,
  { after, limit, event }: PageInput & { event: string },
): Promise<NotificationPage> {
  requireScope(actor, 'read');
  const types = notificationTypes.filter((type) => isSubscribed([event], type));
  const query = { before: parseCursor(after), limit: limit + 1, ...(event === '*' ? {} : { types }) };
  const found = await deps.store.notifications.list(actor.workspace, query);
  const items = found
    .slice(0, limit)
    .map(({ id, type, object, text, data, atMs }) => ({ id, type, object, text, data, at: time(atMs) }));
  return { items, next: found.length > limit ? String(items.at(-1)?.id ?? '') : null };
}

/** Newest first. */
export async function listDeliveries(
  { deps, actor }: Context,
  { after, limit, webhook }: PageInput & { webhook?: string | undefined },
): Promise<DeliveryPage> {
  requireScope(actor, 'read');
  const query = { webhook: webhook ?? null, before: parseCursor(after), limit: limit + 1 };
  const found = await deps.store.notifications.listDeliveries(actor.workspace, query);
  const items = found.slice(0, limit).map((each) => ({
    ...{ id: each.id, webhook: each.webhook, type: each.type, object: each.object, state: each.state },
    ...{ attempts: each.attempts, status: each.status, error: each.error },
    nextAttemptAt: timeOrNull(each.nextAtMs),
    at: time(each.atMs),
  }));
  return { items, next: found.length > limit ? String(items.at(-1)?.id ?? '') : null };
}
