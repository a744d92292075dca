// Webhooks of a workspace. Only admins create them, because a webhook sends events of all users' jobs and clusters.
import { RopewalkError } from '../../domain/errors.ts';
import type { WebhookFormat } from '../../domain/notifications/delivery.ts';
import { mailAddress } from '../../domain/notifications/mail.ts';
import { webhookKey } from '../../platform/archive-keys.ts';
import { randomId } from '../../platform/ids.ts';
import { isAllowedUrl } from '../../platform/webhooks/send.ts';
import { newWebhookSecret } from '../../platform/webhooks/sign.ts';
import type { CreatedWebhook, CreateWebhookParsed, Webhook as Wire, WebhookList } from '../../schema/webhooks.ts';
import type { Webhook } from '../../store/notification-port.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { time, timeOrNull } from '../to-wire.ts';

/** @throws RopewalkError VALIDATION for a URL that is not allowed or an object that has ended, NOT_FOUND for the object, LIMIT_EXCEEDED */
export async function createWebhook(context: Context, body: CreateWebhookParsed): Promise<CreatedWebhook> {
  const { deps, actor } = context;
  requireScope(actor, 'admin');
  const { workspace, user } = actor;
  const { url, events, description, mayApprove, object = null } = body;
  if (object !== null) await requireOpen(context, object);
  const { origin, format } = receiverOf(body, deps);
  if (mayApprove && format !== 'standard') throw approverRefused;
  const id = randomId('wh');
  const secret = newWebhookSecret();
  await deps.vault.seal(webhookKey(workspace, id), Buffer.from(JSON.stringify({ url, secret })), { ttlMs: keptMs });
  const item = { id, workspace, origin, events: [...new Set(events)], object, format, description, user };
  const approverToken = mayApprove ? actor.tokenId : null;
  const answer = await deps.store.notifications.addWebhook({
    ...item,
    approverToken,
    disabledAtMs: null,
    createdAtMs: deps.now(),
  });
  if ('error' in answer) {
    await deps.vault.delete(webhookKey(workspace, id));
    throw new RopewalkError(answer.error);
  }
  return { ...wireOf(answer.ok), secret };
}

export async function listWebhooks({ deps, actor }: Context): Promise<WebhookList> {
  requireScope(actor, 'read');
  return { items: (await deps.store.notifications.listWebhooks(actor.workspace)).map(wireOf) };
}

/** @throws RopewalkError NOT_FOUND */
export async function deleteWebhook({ deps, actor }: Context, id: string): Promise<Wire> {
  requireScope(actor, 'admin');
  const removed = await deps.store.notifications.removeWebhook(actor.workspace, id);
  if (removed === null) throw noWebhook(id);
  await deps.vault.delete(webhookKey(actor.workspace, id));
  return wireOf(removed);
}

/** Sends it a notification of the type `webhook.test`. @throws RopewalkError NOT_FOUND */
export async function testWebhook({ deps, actor }: Context, id: string): Promise<{ delivery: number }> {
  requireScope(actor, 'admin');
  const webhook = await deps.store.notifications.findWebhook(actor.workspace, id);
  if (webhook === null) throw noWebhook(id);
  return { delivery: await deps.store.notifications.addTest(webhook, deps.now()) };
}

/** An ended object causes no further notifications. */
async function requireOpen({ deps, actor }: Context, object: string): Promise<void> {
  const [kind, number] = object.split('/');
  const { views } = deps;
  const place = [actor.workspace, Number(number)] as const;
  const { record } = await (kind === 'job' ? views.jobRow(...place) : views.clusterRow(...place));
  if (record.state === 'ended') throw hasEnded(object.replace('/', ' '));
}

const wireOf = ({
  id,
  origin,
  events,
  object,
  approverToken,
  format,
  description,
  user,
  disabledAtMs,
  createdAtMs,
}: Webhook): Wire => ({
  ...{ id, origin, events, object, format, description, user },
  mayApprove: approverToken !== null,
  createdAt: time(createdAtMs),
  disabledAt: timeOrNull(disabledAtMs),
});

/** The visible part of the address, and the format of its messages. @throws RopewalkError VALIDATION */
function receiverOf(
  { url, format }: Pick<CreateWebhookParsed, 'url' | 'format'>,
  { allowPrivateWebhooks, mailer }: Pick<Context['deps'], 'allowPrivateWebhooks' | 'mailer'>,
): { origin: string; format: WebhookFormat } {
  const isMail = url.startsWith('mailto:');
  if (format !== undefined && isMail !== (format === 'email')) throw formatRefused;
  if (isMail) {
    if (!mailAddress.test(url.slice('mailto:'.length))) throw addressRefused;
    if (mailer === null) throw noMailServer;
    return { origin: url, format: 'email' };
  }
  const parsed = URL.parse(url);
  if (parsed === null || !isAllowedUrl(parsed, allowPrivateWebhooks)) throw urlRefused;
  return { origin: parsed.origin, format: format ?? 'standard' };
}

/** Until it is deleted. */
const keptMs = 100 * 365 * 86_400_000;

export const noWebhook = (id: string): RopewalkError =>
  new RopewalkError({
    code: 'NOT_FOUND',
    message: `There is no webhook ${id} in this workspace.`,
    hint: '`ropewalk webhook list` or GET /v1/webhooks lists the ones there are.',
  });

const hasEnded = (what: string): RopewalkError =>
  new RopewalkError({
    code: 'VALIDATION',
    field: 'object',
    message: `object: the ${what} has ended: nothing more will happen to it.`,
    hint: '`ropewalk notifications` lists what happened to it.',
  });

const formatRefused = new RopewalkError({
  code: 'VALIDATION',
  field: 'format',
  message: 'format: email is the form of mailto: addresses, and of no other.',
});

const approverRefused = new RopewalkError({
  code: 'VALIDATION',
  field: 'mayApprove',
  message:
    'mayApprove: only a receiver of the form standard can answer a request: the others get no secret or no message to answer.',
});

const addressRefused = new RopewalkError({
  code: 'VALIDATION',
  field: 'url',
  message: 'url: mailto: needs one e-mail address of ASCII letters, without a name, as mailto:ada@example.com.',
});

const noMailServer = new RopewalkError({
  code: 'VALIDATION',
  field: 'url',
  message: 'url: this control plane sends no e-mail.',
  hint: 'An operator names a mail server with ROPEWALK_SMTP_URL and ROPEWALK_MAIL_FROM (docs/operations.md).',
});

const urlRefused = new RopewalkError({
  code: 'VALIDATION',
  field: 'url',
  message: 'url: a webhook needs an HTTPS URL without a user name or password.',
  hint: 'An operator can allow others with ROPEWALK_WEBHOOK_PRIVATE=allow.',
});
