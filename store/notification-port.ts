// The part of the store's port that is notifications: what happened, who wants to know, and what was delivered to whom.
import type { WebhookFormat } from '../domain/notifications/delivery.ts';
import type { NewNotification, NotificationType } from '../domain/notifications/types.ts';
import type { Answer } from './answer.ts';

export interface Notification extends Omit<NewNotification, 'once'> {
  id: number;
  atMs: number;
}

/** Its address and its secret lie sealed: the address of a Slack webhook is a secret too. */
export interface Webhook {
  id: string;
  workspace: string;
  /** Origin of its address, for people. */
  origin: string;
  events: string[];
  /** The only job or cluster that it is about, e.g. `job/12`; null: everything in the workspace. */
  object: string | null;
  /** Id of the token of the admin who let it answer requests for approval: its answers are that token's. Null: it answers none. */
  approverToken: string | null;
  format: WebhookFormat;
  description: string;
  user: string;
  /** Set when its receiver asked for no more (410 Gone). */
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
  /** Of the last answer; null when none came. */
  status: number | null;
  error: string | null;
  /** Of the next attempt; null when there is none. */
  nextAtMs: number | null;
  atMs: number;
}

export interface DueDelivery {
  id: number;
  /** Names the claim: a later one ends later. */
  claimedUntilMs: number;
  attempts: number;
  webhook: Webhook;
  notification: Notification;
}

export interface NotificationStore {
  /** And a delivery for each webhook of the workspace that wants it, in one transaction. False when there was one with its `once`. */
  add(notification: NewNotification, nowMs: number): Promise<boolean>;
  /** Newest first. */
  list(workspace: string, query: { before: number | null; limit: number }): Promise<Notification[]>;
  addWebhook(webhook: Webhook): Promise<Answer<Webhook>>;
  /** Oldest first. */
  listWebhooks(workspace: string): Promise<Webhook[]>;
  findWebhook(workspace: string, id: string): Promise<Webhook | null>;
  /** Of any workspace: for a caller who is known by the webhook's signature alone. */
  findAnyWebhook(id: string): Promise<Webhook | null>;
  /** With its deliveries. Null when there is none. */
  removeWebhook(workspace: string, id: string): Promise<Webhook | null>;
  /** To one webhook alone, whatever it wants. */
  addTest(webhook: Webhook, nowMs: number): Promise<number>;
  /**
   * Deliveries whose time has come, claimed until `claimUntilMs`. Of one object, a webhook gets the next one only when the one before
   * was delivered or has failed for good.
   */
  claimDeliveries(query: { limit: number; nowMs: number; claimUntilMs: number }): Promise<DueDelivery[]>;
  /** Counts a message of the workspace in this hour of the clock. False when it has sent `most` in it: nothing is counted. */
  countMail(query: { workspace: string; hour: number; most: number }): Promise<boolean>;
  /** The attempt was not made, and counts for nothing. Changes nothing when the delivery was claimed again since. */
  postponeDelivery(claim: Pick<DueDelivery, 'id' | 'claimedUntilMs'>, nextAtMs: number): Promise<void>;
  /** Changes nothing when the delivery is settled, or was claimed again since. */
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
  /** Of notifications older than this. */
  removeBefore(atMs: number): Promise<void>;
}
