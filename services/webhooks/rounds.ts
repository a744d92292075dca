// Sends due deliveries to webhooks, in every replica of the API. A delivery is claimed first; when a replica ends in between, its claim expires, and
// the receiver may get the message twice, with the same id. Of two attempts, the outcome of the later claim counts.
import { bodyOf, outcomeOf, type WebhookFormat } from '../../domain/notifications/delivery.ts';
import { maxUnderWay, type Place } from '../../domain/notifications/fair-share.ts';
import { mailHourOf, mailOf, mailOutcomeOf, mailsPerHour, nextMailHourMs } from '../../domain/notifications/mail.ts';
import { notificationsKeptMs } from '../../domain/notifications/types.ts';
import { webhookKey } from '../../platform/archive-keys.ts';
import { sendWebhook, type WebhookAnswer } from '../../platform/webhooks/send.ts';
import { signedHeaders } from '../../platform/webhooks/sign.ts';
import type { DueDelivery } from '../../store/notification-port.ts';
import type { CompletePorts } from '../ports.ts';
import { time } from '../to-wire.ts';
import { answerOf } from './answer-link.ts';

export interface WebhookRounds {
  /** Begins due deliveries. Never rejects. */
  round(): Promise<void>;
  /** Resolves when the deliveries under way have ended. */
  settled(): Promise<void>;
}

type Sending = Pick<
  CompletePorts,
  'publicUrl' | 'store' | 'vault' | 'now' | 'logger' | 'stopping' | 'allowPrivateWebhooks' | 'mailer'
>;

export function createWebhookRounds(deps: Sending): WebhookRounds {
  const { store, now, logger } = deps;
  const underWay = new Map<Promise<void>, Place>();
  let removeAtMs = 0;

  const removeOld = async (): Promise<void> => {
    if (now() < removeAtMs) return;
    removeAtMs = now() + removeEveryMs;
    await store.notifications.removeBefore(now() - notificationsKeptMs);
  };

  return {
    async round() {
      try {
        await removeOld();
        const limit = maxUnderWay - underWay.size;
        if (limit <= 0) return;
        const nowMs = now();
        const claimed = await store.notifications.claimDeliveries({
          ...{ limit, underWay: [...underWay.values()] },
          ...{ nowMs, claimUntilMs: nowMs + claimMs },
        });
        for (const delivery of claimed) {
          const ended = deliver(deps, delivery)
            .catch((error: unknown) =>
              logger.warn({ err: error, delivery: delivery.id }, 'what became of a delivery could not be written'),
            )
            .finally(() => underWay.delete(ended));
          underWay.set(ended, { workspace: delivery.webhook.workspace, webhook: delivery.webhook.id });
        }
      } catch (error) {
        logger.warn({ err: error }, 'deliveries of webhooks could not be read now');
      }
    },
    async settled() {
      await Promise.all(underWay.keys());
    },
  };
}

async function deliver(deps: Sending, delivery: DueDelivery): Promise<void> {
  const { store, vault, now, logger, stopping } = deps;
  const { attempts, webhook } = delivery;
  const { format, workspace } = webhook;
  const limit = { workspace, hour: mailHourOf(now()), most: mailsPerHour };
  if (format === 'email' && !(await store.notifications.countMail(limit))) {
    return store.notifications.postponeDelivery(delivery, nextMailHourMs(now()));
  }
  const sealed = await vault.open(webhookKey(workspace, webhook.id));
  let sent: Sent = { status: null, error: 'its sealed address is missing', isFinal: false };
  if (sealed !== null) {
    const address: Address = JSON.parse(Buffer.from(sealed).toString('utf8'));
    sent =
      format === 'email'
        ? await sendMail(deps, delivery, address)
        : await post(deps, { notification: delivery.notification, webhook, format }, address);
    // An attempt that the end of this process cut off does not count: the claim expires.
    if (stopping.aborted && sent.status === null) return;
  }
  const { isFinal, ...answer } = sent;
  const nowMs = now();
  const outcome =
    format === 'email'
      ? mailOutcomeOf({ status: answer.status, isFinal }, attempts + 1, nowMs)
      : outcomeOf(answer.status, attempts + 1, nowMs);
  const nextAtMs = outcome.state === 'pending' ? outcome.nextAtMs : null;
  const gone = outcome.state === 'failed' && outcome.gone;
  await store.notifications.settleDelivery(delivery, { state: outcome.state, nextAtMs, ...answer, gone }, nowMs);
  if (outcome.state !== 'delivered') {
    logger.info(
      { delivery: delivery.id, webhook: webhook.id, ...answer, state: outcome.state },
      'a webhook was not delivered',
    );
  }
}

interface Address {
  url: string;
  secret: string;
}

type Sent = WebhookAnswer & { isFinal: boolean };

async function post(
  deps: Sending,
  {
    format,
    notification,
    webhook,
  }: Omit<DueDelivery, 'id' | 'claimedUntilMs' | 'attempts'> & { format: Exclude<WebhookFormat, 'email'> },
  { url, secret }: Address,
): Promise<Sent> {
  const { now, stopping, allowPrivateWebhooks: allowPrivate } = deps;
  const asked = {
    ...notification,
    data: { ...notification.data, ...answerOf(deps, webhook, { notification, secret }) },
  };
  const body = bodyOf(format, asked, time(notification.atMs));
  const headers = signedHeaders(secret, { id: `msg_${notification.id}`, atMs: now(), body });
  return { ...(await sendWebhook({ url, headers, body, allowPrivate, signal: stopping })), isFinal: false };
}

async function sendMail(
  { mailer }: Sending,
  { webhook, notification }: Pick<DueDelivery, 'webhook' | 'notification'>,
  { url }: Address,
): Promise<Sent> {
  // The operator has removed the mail server since the address was subscribed.
  if (mailer === null) return { status: null, error: 'there is no mail server', isFinal: false };
  const { id, workspace, user } = webhook;
  const mail = mailOf(notification, { at: time(notification.atMs), workspace, webhook: id, user });
  const to = url.slice('mailto:'.length);
  return mailer.send({ to, ...mail, messageId: `msg_${notification.id}.${id}` });
}

/** Longer than an attempt takes. */
const claimMs = 60_000;
const removeEveryMs = 600_000;
