// When a webhook delivery is retried, and its body.
import type { NewNotification } from './types.ts';

export type WebhookFormat = 'standard' | 'slack' | 'email';

/** Waits after failed attempts, as the Standard Webhooks specification recommends; three days in total. */
const waitsMs = [
  5_000, 60_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000,
];

/** Maximum number of webhooks in a workspace for all its events. */
export const maxWebhooks = 20;

/** Maximum number of webhooks in a workspace for single jobs or clusters. */
export const maxObjectWebhooks = 100;

export type DeliveryOutcome =
  | { state: 'delivered' }
  | { state: 'pending'; nextAtMs: number }
  /** `gone`: the receiver rejected all further deliveries. */
  | { state: 'failed'; gone: boolean };

/** `status`: HTTP status of the receiver's answer; null without one. `attempts`: including this one. */
export function outcomeOf(status: number | null, attempts: number, nowMs: number): DeliveryOutcome {
  if (status !== null && status >= 200 && status < 300) return { state: 'delivered' };
  if (status === 410) return { state: 'failed', gone: true };
  const wait = waitsMs[attempts - 1];
  return wait === undefined ? { state: 'failed', gone: false } : { state: 'pending', nextAtMs: nowMs + wait };
}

/** Builds the body. Slack reads `text`; "<", ">" and "&" are its control characters. */
export function bodyOf(
  format: Exclude<WebhookFormat, 'email'>,
  { type, text, data }: Pick<NewNotification, 'type' | 'text' | 'data'>,
  at: string,
): string {
  if (format === 'standard') return JSON.stringify({ type, timestamp: at, data: { ...data, text } });
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return JSON.stringify({ text: safe });
}
