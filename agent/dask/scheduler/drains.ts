// Drains workers as ordered, through the scheduler on this instance. Each order is carried out once, however often it is read,
// and its outcome is reported. When the scheduler is briefly unreachable the order is repeated: the scheduler knows which
// workers it has drained.
import { setTimeout as sleep } from 'node:timers/promises';

import type { Orders } from '../../../schema/agent.ts';
import { workerNames } from '../worker-name.ts';
import { drainOutcomeOf } from './by-instance.ts';
import type { DrainOutcome } from './messages.ts';
import type { SchedulerLink } from './link.ts';
import type { Log } from '../../logs/log.ts';
import type { DrainReport } from '../../api-client/reports.ts';

type DrainOrder = Orders['drain'][number];

export interface DrainsInput {
  link: Pick<SchedulerLink, 'order'>;
  /** Dask workers per worker instance in an order. */
  workersPerInstance: number;
  notify: (report: DrainReport) => void;
  log: Log;
  signal: AbortSignal;
}

/** The scheduler reports a passed deadline itself; this is for a scheduler that does not answer. */
const graceMs = 10_000;
const againAfterMs = 500;

/** Returns the handler for each new set of orders. */
export function createDrains({
  link,
  workersPerInstance,
  notify,
  log,
  signal,
}: DrainsInput): (orders: Pick<Orders, 'drain'>) => void {
  const known = new Set<number>();
  return ({ drain }) => {
    for (const order of drain) {
      if (known.has(order.id)) continue;
      known.add(order.id);
      void outcomeOf(order, { link, workersPerInstance }, signal).then((outcome) => {
        if (outcome === null) return;
        log.write(`Drain ${order.id} of ${order.worker}: ${outcome}.`);
        notify({ id: order.id, outcome });
      });
    }
  };
}

/** null when the agent is stopped meanwhile. */
async function outcomeOf(
  { worker, deadlineSeconds }: DrainOrder,
  { link, workersPerInstance }: Pick<DrainsInput, 'link' | 'workersPerInstance'>,
  signal: AbortSignal,
): Promise<DrainOutcome | null> {
  const workers = workerNames(worker, workersPerInstance);
  const deadlineMs = performance.now() + deadlineSeconds * 1000;
  while (!signal.aborted) {
    const leftMs = Math.max(0, deadlineMs - performance.now());
    const order = { workers, deadlineSeconds: leftMs / 1000 };
    const answer = await link.order('drain', order, leftMs + graceMs).catch(() => null);
    if (answer !== null) return drainOutcomeOf(workers.map((name) => answer.workers[name]));
    if (performance.now() >= deadlineMs) return 'deadline';
    await sleep(againAfterMs, undefined, { signal }).catch(() => undefined);
  }
  return null;
}
