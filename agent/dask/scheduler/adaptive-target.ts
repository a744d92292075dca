// Passes the adaptive scaling parameters to the scheduler whenever they change.
import { setTimeout as sleep } from 'node:timers/promises';

import type { Orders } from '../../../schema/agent.ts';
import type { SchedulerLink } from './link.ts';

const againAfterMs = 1_000;

/** Returns the handler for each new set of orders. */
export function createAdaptiveTarget(
  link: Pick<SchedulerLink, 'order'>,
  signal: AbortSignal,
): (orders: Pick<Orders, 'adaptive'>) => void {
  let wanted: Orders['adaptive'] = null;
  let isSending = false;
  const send = async (): Promise<void> => {
    for (let sent: Orders['adaptive'] = null; sent !== wanted && wanted !== null && !signal.aborted;) {
      const order: NonNullable<Orders['adaptive']> = wanted;
      const obeyed = await link.order('adaptive', order).then(
        () => true,
        () => false,
      );
      if (obeyed) sent = order;
      else await sleep(againAfterMs, undefined, { signal }).catch(() => undefined);
    }
    isSending = false;
  };
  return ({ adaptive }) => {
    if (JSON.stringify(adaptive) === JSON.stringify(wanted)) return;
    wanted = adaptive;
    if (isSending) return;
    isSending = true;
    void send();
  };
}
