// The control plane's orders for a Dask cluster's instances, from a long poll and from the answers to reports, whichever is
// newer. Orders describe a desired state, so only the latest matter.
import { setTimeout as sleep } from 'node:timers/promises';

import { jsonBy } from '../api-client/client.ts';
import { orders as ordersSchema } from '../../schema/agent.ts';
import type { Orders } from '../../schema/agent.ts';
import type { Session } from '../api-client/session.ts';

export interface OrderSubscription {
  /** Calls back with the latest orders, if any, and with all newer ones. */
  follow: (listener: (orders: Orders) => void) => void;
  /** The first non-null result of `find` for the latest or newer orders; null when the agent is stopped. */
  when: <T>(find: (orders: Orders) => T | null) => Promise<T | null>;
  take: (orders: Orders) => void;
  /** Polls until the agent is stopped. */
  run: () => Promise<void>;
}

/** The API holds the request for 50 s. */
const answerTimeoutMs = 75_000;
/** Paces the polls when the API returns unchanged orders at once. */
const pauseMs = 1_000;

export function createOrderSubscription({
  session,
  stopping,
}: {
  session: Session;
  stopping: AbortController;
}): OrderSubscription {
  const { signal } = stopping;
  const listeners: ((orders: Orders) => void)[] = [];
  let latest: Orders | null = null;
  const take = (orders: Orders): void => {
    if (orders.stop !== null) return stopping.abort(orders.stop);
    if (latest !== null && orders.version <= latest.version) return;
    latest = orders;
    for (const listener of listeners) listener(orders);
  };
  const follow = (listener: (orders: Orders) => void): void => {
    listeners.push(listener);
    if (latest !== null) listener(latest);
  };
  return {
    take,
    follow,
    when: <T>(find: (orders: Orders) => T | null) =>
      new Promise<T | null>((resolve) => {
        signal.addEventListener('abort', () => resolve(null), { once: true });
        if (signal.aborted) resolve(null);
        follow((orders) => {
          const found = find(orders);
          if (found !== null) resolve(found);
        });
      }),
    run: async () => {
      while (!signal.aborted) {
        const seen = latest?.version ?? 0;
        const askedAtMs = performance.now();
        const answer = await session.call({
          method: 'GET',
          path: `/v1/agent/orders?seen=${seen}`,
          timeoutMs: answerTimeoutMs,
          onRefused: () => null,
          read: jsonBy((json) => ordersSchema.parse(json)),
        });
        if (answer === null) return;
        take(answer);
        const restMs = answer.version > seen ? 0 : askedAtMs + pauseMs - performance.now();
        if (restMs > 0) await sleep(restMs, undefined, { signal }).catch(() => undefined);
      }
    },
  };
}
