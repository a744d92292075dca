// Signatures of webhooks, by the Standard Webhooks specification (standardwebhooks.com).
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const prefix = 'whsec_';

export const newWebhookSecret = (): string => `${prefix}${randomBytes(32).toString('base64')}`;

/** `id` stays the same in retries, by which receivers recognize them. */
export function signedHeaders(
  secret: string,
  { id, atMs, body }: { id: string; atMs: number; body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const signature = hmac(secret, `${id}.${timestamp}.${body}`).toString('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** Whether a message is signed with this secret, and its age is within the limits of the specification's libraries. */
export function isSigned(
  secret: string,
  { id, timestamp, signature, body }: { id: string; timestamp: string; signature: string; body: string },
  nowMs: number,
): boolean {
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowMs - Number(timestamp) * 1_000) > toleranceMs) return false;
  const expected = hmac(secret, `${id}.${timestamp}.${body}`);
  return signature.split(' ', maxSignatures).some((each) => {
    const given = Buffer.from(each.startsWith('v1,') ? each.slice('v1,'.length) : '', 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** The required id of an answer to a request for approval: unique for this webhook, request and time limit. */
export const approvalAnswerId = (
  secret: string,
  { workspace, number, expiresAtMs }: { workspace: string; number: number; expiresAtMs: number },
): string => `apr_${hmac(secret, JSON.stringify(['approval', workspace, number, expiresAtMs])).toString('base64url')}`;

const toleranceMs = 300_000;
/** A message has one signature, or two while a secret is replaced. */
const maxSignatures = 4;

const hmac = (secret: string, text: string): Buffer =>
  createHmac('sha256', Buffer.from(secret.slice(prefix.length), 'base64'))
    .update(text)
    .digest();
