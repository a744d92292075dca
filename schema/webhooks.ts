// Notifications and webhooks over HTTP.
import { z } from 'zod';

import { mailUrl } from '../domain/notifications/mail.ts';
import { eventPatterns, notificationTypes } from '../domain/notifications/types.ts';
import { pageQuery } from './common.ts';

export const webhookParams = z.object({
  webhook: z.string().regex(/^wh_[0-9a-z]{26}$/, 'the id of a webhook: wh_...'),
});

const webhookFormat = z.enum(['standard', 'slack', 'email']);

export const createWebhook = z.strictObject({
  /** Receives a POST for each notification: HTTPS with a public address, unless the operator allows others. Or `mailto:` with one address. */
  url: z.union(
    [z.url({ protocol: /^https?$/ }).max(2_000), z.string().max(261).regex(mailUrl)],
    'must be an https URL, or mailto: with one address',
  ),
  /** Types (`job.failed`), all types of a noun (`job.*`), or `*`, the default. */
  events: z.array(z.enum(eventPatterns)).min(1).max(50).default(['*']),
  /**
   * `standard`: JSON with type, timestamp and data. `slack`: the format of Slack's incoming webhooks. `email`: a plain-text message, for `mailto:`
   * only. Default: `email` for `mailto:`, else `standard`.
   */
  format: webhookFormat.optional(),
  /** Only notifications of this open job or cluster: `job/12`, `cluster/3`. */
  object: z
    .string()
    .regex(/^(job|cluster)\/[1-9]\d{0,14}$/, 'must be job/NUMBER or cluster/NUMBER')
    .optional(),
  /**
   * Its receiver may approve and reject requests, with the rights of the token that creates this webhook (POST /v1/approval-answers/{webhook}). Only
   * for the format `standard`.
   */
  mayApprove: z.boolean().default(false),
  description: z.string().max(200).default(''),
});
export type CreateWebhook = z.input<typeof createWebhook>;
export type CreateWebhookParsed = z.output<typeof createWebhook>;

/** Headers of the Standard Webhooks specification. */
export const signatureHeaders = z.object({
  /** The `id` of the request's `answer`. */
  'webhook-id': z.string().max(100),
  'webhook-timestamp': z.string().max(20),
  /** Signed with the webhook's secret, over id, timestamp and body. */
  'webhook-signature': z.string().max(1_000),
});
export type SignatureHeaders = z.output<typeof signatureHeaders>;

export const approvalAnswer = z.strictObject({
  /** Number of the job or cluster. */
  number: z.number().int().min(1),
  decision: z.enum(['approve', 'reject']),
  comment: z.string().trim().min(1).max(500).optional(),
});
export type ApprovalAnswer = z.output<typeof approvalAnswer>;

const time = z.iso.datetime();

export const webhook = z.object({
  id: z.string(),
  /** The origin of its URL; the rest may be secret and is never shown. A mail address is shown in full. */
  origin: z.string(),
  events: z.array(z.string()),
  /** The only job or cluster whose notifications it receives; null for the whole workspace. */
  object: z.string().nullable(),
  /** Its receiver may answer requests for approval. */
  mayApprove: z.boolean(),
  format: webhookFormat,
  description: z.string(),
  user: z.string(),
  createdAt: time,
  /** Its receiver answered 410 Gone, so it gets no further deliveries. */
  disabledAt: time.nullable(),
});
export type Webhook = z.infer<typeof webhook>;

/** `secret`: receivers verify signatures with it. It is shown only here. */
export const createdWebhook = webhook.extend({ secret: z.string() });
export type CreatedWebhook = z.infer<typeof createdWebhook>;

export const webhookList = z.object({ items: z.array(webhook) });
export type WebhookList = z.infer<typeof webhookList>;

export const notificationType = z.enum(notificationTypes);

export const notification = z.object({
  id: z.number().int(),
  type: notificationType,
  /** Its object, e.g. `job/12`. */
  object: z.string(),
  text: z.string(),
  data: z.record(z.string(), z.unknown()),
  at: time,
});
export type Notification = z.infer<typeof notification>;

export const notificationPage = z.object({ items: z.array(notification), next: z.string().nullable() });
export type NotificationPage = z.infer<typeof notificationPage>;

export const delivery = z.object({
  id: z.number().int(),
  webhook: z.string(),
  type: notificationType,
  object: z.string(),
  state: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.number().int(),
  /** HTTP status of the last answer; null without an answer. */
  status: z.number().int().nullable(),
  error: z.string().nullable(),
  nextAttemptAt: time.nullable(),
  /** Time of the last attempt. */
  at: time,
});
export type Delivery = z.infer<typeof delivery>;

export const deliveryPage = z.object({ items: z.array(delivery), next: z.string().nullable() });
export type DeliveryPage = z.infer<typeof deliveryPage>;

export const notificationsQuery = pageQuery.extend({
  /** Only of this type (`job.failed`), or of all types of a noun (`job.*`). */
  event: z.enum(eventPatterns).default('*'),
});

export const deliveriesQuery = pageQuery.extend({ webhook: webhookParams.shape.webhook.optional() });
