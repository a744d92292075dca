// A webhook's receiver answers a request for approval. The caller has no token: the webhook's secret signs the answer, and the answer's id belongs to
// one request and one webhook. The decision has the rights of the token that created the webhook.
import { timingSafeEqual } from 'node:crypto';

import type { Approval } from '../../domain/admission/approval.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { isAbout } from '../../domain/notifications/types.ts';
import { webhookKey } from '../../platform/archive-keys.ts';
import { approvalAnswerId, isSigned } from '../../platform/webhooks/sign.ts';
import type { ApprovalAnswer, SignatureHeaders } from '../../schema/webhooks.ts';
import type { Webhook } from '../../store/notification-port.ts';
import { carryOutDecision } from '../approvals/approvals.ts';
import type { Deps } from '../context.ts';

interface Answer {
  webhook: string;
  headers: SignatureHeaders;
  /** The body as received, byte for byte. */
  raw: string;
  body: ApprovalAnswer;
}

/**
 * @throws RopewalkError UNAUTHENTICATED without a valid signature, NOT_FOUND for another number, CONFLICT once it is decided or has expired,
 * FORBIDDEN when the webhook's token may not decide it.
 */
export async function answerApproval(deps: Deps, { webhook: id, headers, raw, body }: Answer): Promise<Approval> {
  const webhook = await deps.store.notifications.findAnyWebhook(id);
  const secret = webhook === null ? null : await secretOf(deps, webhook);
  const signed = {
    ...{ id: headers['webhook-id'], timestamp: headers['webhook-timestamp'] },
    ...{ signature: headers['webhook-signature'], body: raw },
  };
  if (webhook === null || secret === null || !isSigned(secret, signed, deps.now())) throw notSigned;
  const { workspace, user, approverToken } = webhook;
  const { number, decision, comment } = body;
  const approval = await deps.store.approvals.find(workspace, number);
  if (approval === null || !isAbout(webhook.object, `${approval.kind}/${number}`)) throw noRequest(number);
  const { expiresAtMs, state, kind } = approval;
  if (!isSame(signed.id, approvalAnswerId(secret, { workspace, number, expiresAtMs }))) throw notSigned;
  if (state !== 'pending' || expiresAtMs <= deps.now()) throw tooLate(`${kind} ${number}`, state);
  const by = { user, tokenId: approverToken ?? '' };
  const item = { number, approve: decision === 'approve', comment: comment ?? null, by, webhook: id };
  return carryOutDecision(deps, workspace, item);
}

/** Null for a webhook that may not answer. */
async function secretOf({ vault }: Pick<Deps, 'vault'>, webhook: Webhook): Promise<string | null> {
  if (webhook.approverToken === null || webhook.disabledAtMs !== null) return null;
  const sealed = await vault.open(webhookKey(webhook.workspace, webhook.id));
  return sealed === null ? null : (JSON.parse(Buffer.from(sealed).toString('utf8')) as { secret: string }).secret;
}

const isSame = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

const notSigned = new RopewalkError({
  code: 'UNAUTHENTICATED',
  message: 'This is no valid answer: its signature, its time or its id is wrong, or this webhook may answer nothing.',
  hint: 'Sign it by the Standard Webhooks specification with the secret of the webhook, with the id of `answer` (docs/webhooks.md).',
});

const noRequest = (number: number): RopewalkError =>
  new RopewalkError({ code: 'NOT_FOUND', message: `Nothing with the number ${number} has asked this webhook.` });

const tooLate = (what: string, state: string): RopewalkError =>
  new RopewalkError({
    code: 'CONFLICT',
    message: `The request of ${what} is ${state === 'pending' ? 'expired' : state}: an answer counts once, and in time.`,
    hint: 'Create it again, to have it decided again.',
  });
