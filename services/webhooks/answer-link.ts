// With what a webhook's receiver answers a request for approval.
import { approvalAnswerId } from '../../platform/webhooks/sign.ts';
import type { Notification, Webhook } from '../../store/notification-port.ts';
import type { CompletePorts } from '../ports.ts';

/** What the message of a request has besides, for a webhook that may answer: in no list of notifications. */
export function answerOf(
  { publicUrl }: Pick<CompletePorts, 'publicUrl'>,
  { id: webhook, workspace, approverToken }: Webhook,
  { notification, secret }: { notification: Notification; secret: string },
): { answer?: { url: string; id: string } } {
  if (approverToken === null || notification.type !== 'approval.requested') return {};
  const number = Number(notification.object.split('/')[1]);
  const expiresAtMs = Date.parse(String(notification.data['expiresAt']));
  const id = approvalAnswerId(secret, { workspace, number, expiresAtMs });
  return { answer: { url: `${publicUrl}/v1/approval-answers/${webhook}`, id } };
}
