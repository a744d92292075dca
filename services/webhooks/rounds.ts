// Sends what is due to webhooks, in every replica of the API. A delivery is claimed first; a replica that ends in between leaves a
// claim that ends by itself, and the receiver may get the message twice, with the same id. Of two attempts, the outcome of the later
// claim counts.
import { bodyOf, outcomeOf } from '../../domain/notifications/delivery.ts';
import { notificationsKeptMs } from '../../domain/notifications/types.ts';
import { webhookKey } from '../../platform/archive-keys.ts';
import { sendWebhook, type WebhookAnswer } from '../../platform/webhooks/send.ts';
import { signedHeaders } from '../../platform/webhooks/sign.ts';
import type { DueDelivery } from '../../store/notification-port.ts';
import type { CompletePorts } from '../ports.ts';
import { time } from '../to-wire.ts';

export interface WebhookRounds {
  /** Begins what is due. Never rejects. */
  round(): Promise<void>;
  /** Resolves when the deliveries that are under way have ended. */
  settled(): Promise<void>;
}

type Sending = Pick<CompletePorts, 'store' | 'vault' | 'now' | 'logger' | 'stopping' | 'allowPrivateWebhooks'>;

export function createWebhookRounds(deps: Sending): WebhookRounds {
  const { store, now, logger } = deps;
  const underWay = new Set<Promise<void>>();
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
        const limit = atOnce - underWay.size;
        if (limit <= 0) return;
        const nowMs = now();
        const claimed = await store.notifications.claimDeliveries({ limit, nowMs, claimUntilMs: nowMs + claimMs });
        for (const delivery of claimed) {
          const ended = deliver(deps, delivery)
            .catch((error: unknown) =>
              logger.warn({ err: error, delivery: delivery.id }, 'what became of a delivery could not be written'),
            )
            .finally(() => underWay.delete(ended));
          underWay.add(ended);
        }
      } catch (error) {
        logger.warn({ err: error }, 'deliveries of webhooks could not be read now');
      }
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}

async function deliver(deps: Sending, delivery: DueDelivery): Promise<void> {
  const { store, vault, now, logger, stopping, allowPrivateWebhooks: allowPrivate } = deps;
  const { attempts, webhook, notification } = delivery;
  const sealed = await vault.open(webhookKey(webhook.workspace, webhook.id));
  let answer: WebhookAnswer = { status: null, error: 'its sealed address is missing' };
  if (sealed !== null) {
    const { url, secret }: { url: string; secret: string } = JSON.parse(Buffer.from(sealed).toString('utf8'));
    const body = bodyOf(webhook.format, notification, time(notification.atMs));
    const headers = signedHeaders(secret, { id: `msg_${notification.id}`, atMs: now(), body });
    answer = await sendWebhook({ url, headers, body, allowPrivate, signal: stopping });
    // An attempt that the end of this process has cut counts for nothing: the claim ends by itself.
    if (stopping.aborted && answer.status === null) return;
  }
  const nowMs = now();
  const outcome = outcomeOf(answer.status, attempts + 1, nowMs);
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

/** Of one process. */
const atOnce = 32;
/** Longer than an attempt takes. */
const claimMs = 60_000;
const removeEveryMs = 600_000;
