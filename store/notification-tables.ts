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
  /** Unique in the workspace; null for a notification without such a key. */
  once: string | null;
  at_ms: number;
}

export interface WebhookTable {
  id: string;
  workspace: string;
  origin: string;
  /** Comma-separated. */
  events: string;
  /** Null: everything in the workspace. */
  object: string | null;
  /** Id of the token with which it decides approvals; null: it decides none. */
  approver_token: string | null;
  format: WebhookFormat;
  description: string;
  user_name: string;
  disabled_at_ms: number | null;
  created_at_ms: number;
}

/** Number of e-mails of a workspace in an hour of the clock. */
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
  /** For a pending one: its next attempt, or the end of a claim. */
  next_at_ms: number | null;
  at_ms: number;
}
