// Notifications of a workspace, and the webhooks that receive them.
import type {
  CreatedWebhook,
  CreateWebhook,
  Delivery,
  Notification,
  Webhook,
  WebhookList,
} from '../schema/webhooks.ts';
import { listOf } from './lists.ts';
import type { CallOptions, ListOptions } from './options.ts';
import type { Paged } from './pages.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export interface WebhooksApi {
  /**
   * Sends notifications to a URL, signed by the Standard Webhooks specification, or to an e-mail address (`mailto:`). The
   * answer's `secret` is returned only once. For admins. Throws ValidationError for a URL that is not allowed, RateLimitError
   * when the workspace has too many.
   */
  create(input: CreateWebhook, options?: CallOptions): Promise<CreatedWebhook>;
  list(options?: CallOptions): Promise<Webhook[]>;
  /** Throws NotFoundError. */
  delete(id: string, options?: CallOptions): Promise<Webhook>;
  /** Sends it a `webhook.test`. Throws NotFoundError. */
  test(id: string, options?: CallOptions): Promise<{ delivery: number }>;
  /** Deliveries to one webhook, or to all, newest first. */
  deliveries(options?: ListOptions & { webhook?: string }): Paged<Delivery>;
  /** Notifications of the workspace in the last 30 days, newest first; of one type (`job.failed`) or noun (`job.*`) with `event`. */
  notifications(options?: ListOptions & { event?: string }): Paged<Notification>;
}

export function createWebhooksApi(request: SendRequest): WebhooksApi {
  const path = '/v1/webhooks';
  return {
    create: (body, { signal } = {}) => requestJson(request, { method: 'POST', path, body, signal }),
    list: async ({ signal } = {}) => (await requestJson<WebhookList>(request, { method: 'GET', path, signal })).items,
    delete: (id, { signal } = {}) =>
      requestJson(request, { method: 'DELETE', path: `${path}/${encodeURIComponent(id)}`, signal }),
    test: (id, { signal } = {}) =>
      requestJson(request, { method: 'POST', path: `${path}/${encodeURIComponent(id)}/test`, signal }),
    deliveries: (options) => listOf<Delivery>(request, '/v1/webhook-deliveries', options),
    notifications: (options) => listOf<Notification>(request, '/v1/notifications', options),
  };
}
