// The store's port for notifications: events, webhooks, and deliveries.
import type { Place } from '../domain/notifications/fair-share.ts';
import type { WebhookFormat } from '../domain/notifications/delivery.ts';
import type { NewNotification, NotificationType } from '../domain/notifications/types.ts';
import type { Answer } from './answer.ts';

export interface Notification extends Omit<NewNotification, 'once'> {
  id: number;
  atMs: number;
}

/** Its address and its secret are sealed: the address of a Slack webhook is a secret too. */
export interface Webhook {
  id: string;
  workspace: string;
  /** Origin of its address, for display. */
  origin: string;
  events: string[];
  /** The only subscribed job or cluster, e.g. `job/12`; null: everything in the workspace. */
  object: string | null;
  /**
   * Id of the token of the admin who allowed it to decide approvals: its decisions use that token's rights. Null: it decides
   * none.
   */
  approverToken: string | null;
  format: WebhookFormat;
  description: string;
  user: string;
  /** Set when its receiver refused further messages (410 Gone). */
  disabledAtMs: number | null;
  createdAtMs: number;
}

export interface Delivery {
  id: number;
  webhook: string;
  notification: number;
  type: NotificationType;
  object: string;
  state: 'pending' | 'delivered' | 'failed';
  attempts: number;
  /** HTTP status of the last answer; null without one. */
  status: number | null;
  error: string | null;
  /** Time of the next attempt; null when there is none. */
  nextAtMs: number | null;
  atMs: number;
}

export interface DueDelivery {
  id: number;
  /** Identifies the claim: a later one ends later. */
  claimedUntilMs: number;
  attempts: number;
  webhook: Webhook;
  notification: Notification;
}

export interface NotificationStore {
  /**
   * Adds a notification with a delivery for each subscribed webhook of the workspace, in one transaction. False when its `once`
   * exists.
   */
  add(notification: NewNotification, nowMs: number): Promise<boolean>;
  /** Newest first. `types`: only these; all without it. */
  list(
    workspace: string,
    query: { before: number | null; limit: number; types?: readonly NotificationType[] },
  ): Promise<Notification[]>;
  addWebhook(webhook: Webhook): Promise<Answer<Webhook>>;
  /** Oldest first. */
  listWebhooks(workspace: string): Promise<Webhook[]>;
  findWebhook(workspace: string, id: string): Promise<Webhook | null>;
  /** In any workspace: for a caller that is identified only by the webhook's signature. */
  findAnyWebhook(id: string): Promise<Webhook | null>;
  /** Also removes its deliveries. Null when it does not exist. */
  removeWebhook(workspace: string, id: string): Promise<Webhook | null>;
  /** Sends to this webhook only, whatever its subscription. */
  addTest(webhook: Webhook, nowMs: number): Promise<number>;
  /**
   * Due deliveries, claimed until `claimUntilMs`. A webhook gets an object's next one only after the previous one was delivered
   * or has failed for good. `underWay`: the caller's deliveries, which count for the shares of their webhooks and workspaces.
   */
  claimDeliveries(query: {
    limit: number;
    underWay: readonly Place[];
    nowMs: number;
    claimUntilMs: number;
  }): Promise<DueDelivery[]>;
  /** Counts a message of the workspace in this hour of the clock. False when it has reached `most`: nothing is counted. */
  countMail(query: { workspace: string; hour: number; most: number }): Promise<boolean>;
  /** Postpones a delivery without an attempt. No effect when it was claimed again since. */
  postponeDelivery(claim: Pick<DueDelivery, 'id' | 'claimedUntilMs'>, nextAtMs: number): Promise<void>;
  /** No effect when the delivery is settled, or was claimed again since. */
  settleDelivery(
    claim: Pick<DueDelivery, 'id' | 'claimedUntilMs'>,
    result: {
      state: Delivery['state'];
      nextAtMs: number | null;
      status: number | null;
      error: string | null;
      gone: boolean;
    },
    nowMs: number,
  ): Promise<void>;
  /** Newest first. */
  listDeliveries(
    workspace: string,
    query: { webhook: string | null; before: number | null; limit: number },
  ): Promise<Delivery[]>;
  /** Removes notifications older than this. */
  removeBefore(atMs: number): Promise<void>;
}
