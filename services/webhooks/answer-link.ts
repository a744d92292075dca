// The link and id with which a webhook's receiver answers a request for approval.
import { approvalAnswerId } from '../../platform/webhooks/sign.ts';
import type { Notification, Webhook } from '../../store/notification-port.ts';
import type { CompletePorts } from '../ports.ts';

/** Additional fields in the message of a request, for a webhook that may answer it; not in lists of notifications. */
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
