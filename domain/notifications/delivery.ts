// When a webhook's delivery is tried again, and what its receiver gets.
import type { NewNotification } from './types.ts';

export type WebhookFormat = 'standard' | 'slack' | 'email';

/** Waits after failed attempts, as the Standard Webhooks specification advises; three days in all. */
const waitsMs = [
  5_000, 60_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000,
];

/** Of a workspace, for all that happens in it. */
export const maxWebhooks = 20;

/** Of a workspace, each for one job or cluster. */
export const maxObjectWebhooks = 100;

export type DeliveryOutcome =
  | { state: 'delivered' }
  | { state: 'pending'; nextAtMs: number }
  /** `gone`: its receiver asked for no more. */
  | { state: 'failed'; gone: boolean };

/** `status`: of the receiver's answer; null without one. `attempts`: this one included. */
export function outcomeOf(status: number | null, attempts: number, nowMs: number): DeliveryOutcome {
  if (status !== null && status >= 200 && status < 300) return { state: 'delivered' };
  if (status === 410) return { state: 'failed', gone: true };
  const wait = waitsMs[attempts - 1];
  return wait === undefined ? { state: 'failed', gone: false } : { state: 'pending', nextAtMs: nowMs + wait };
}

/** The body. Slack reads `text`; "<", ">" and "&" are its control characters. */
export function bodyOf(
  format: Exclude<WebhookFormat, 'email'>,
  { type, text, data }: Pick<NewNotification, 'type' | 'text' | 'data'>,
  at: string,
): string {
  if (format === 'standard') return JSON.stringify({ type, timestamp: at, data: { ...data, text } });
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return JSON.stringify({ text: safe });
}
