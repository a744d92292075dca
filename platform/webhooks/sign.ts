// Signatures of webhooks, by the Standard Webhooks specification (standardwebhooks.com).
import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';

export const newWebhookSecret = (): string => `${prefix}${randomBytes(32).toString('base64')}`;

/** `id` stays the same when a delivery is tried again: receivers recognise repetitions by it. */
export function signedHeaders(
  secret: string,
  { id, atMs, body }: { id: string; atMs: number; body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const key = Buffer.from(secret.slice(prefix.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
