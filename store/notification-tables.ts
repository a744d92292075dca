// Tables of notifications, webhooks, their deliveries, and e-mail.
import type { Generated } from 'kysely';

import type { WebhookFormat } from '../domain/notifications/delivery.ts';
import type { NotificationType } from '../domain/notifications/types.ts';

export interface NotificationTable {
  id: Generated<number>;
  workspace: string;
  type: NotificationType;
  object: string;
  text: string;
  /** JSON. */
  data: string;
  /** Unique in the workspace; null: one of its own. */
  once: string | null;
  at_ms: number;
}

export interface WebhookTable {
  id: string;
  workspace: string;
  origin: string;
  /** With commas between them. */
  events: string;
  /** Null: everything in the workspace. */
  object: string | null;
  /** Id of the token with which it decides; null: it decides nothing. */
  approver_token: string | null;
  format: WebhookFormat;
  description: string;
  user_name: string;
  disabled_at_ms: number | null;
  created_at_ms: number;
}

/** How many messages a workspace has sent by e-mail in an hour of the clock. */
export interface MailHourTable {
  workspace: string;
  hour: number;
  sent: number;
}

export interface DeliveryTable {
  id: Generated<number>;
  webhook: string;
  workspace: string;
  notification: number;
  object: string;
  state: 'pending' | 'delivered' | 'failed';
  attempts: number;
  status: number | null;
  error: string | null;
  /** Of a pending one: its next attempt, or the end of a claim. */
  next_at_ms: number | null;
  at_ms: number;
}
