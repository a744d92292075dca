// Starts the workflows of admitted rows, in every replica of the API: rows of this process as soon as they are committed, and rows that another
// process left, within a second. A row is claimed first, so replicas rarely start the same one; if they do, it is started once (see start.ts). While
// Temporal is unavailable rows wait, and none is claimed. Rows for a host wait until it has room, because a thousand jobs that start together on one
// machine would slow each other down.
import type { Startable } from '../../store/admission-port.ts';
import type { CompletePorts } from '../ports.ts';
import { deleteSealed, keepSealed, startAdmitted, type StartResult } from './start.ts';
import { createUnseenStarts } from './unseen.ts';

export type Begun = 'started' | 'refused' | 'later' | 'unknown';

export interface Starter {
  /**
   * The result for a just-committed row after a short wait: `later` when Temporal is unavailable; `unknown` when it waits behind others, or as soon
   * as it is known that another replica has claimed it.
   */
  begin(number: number): Promise<Begun>;
  /** Starts admitted rows. Resolves when the starts under way have ended. Never rejects. */
  round(): Promise<void>;
}

export function createStarter(
  deps: Pick<
    CompletePorts,
    'store' | 'workflows' | 'vault' | 'now' | 'logger' | 'deploymentId' | 'metrics' | 'maxOpenOnHost' | 'monotonicMs'
  >,
): Starter {
  const { store, workflows, logger, metrics, now, maxOpenOnHost = Infinity } = deps;
  /** Claimed by this process, to be started next. */
  const queue: Startable[] = [];
  const active = new Map<number, Promise<void>>();
  const unseen = createUnseenStarts(deps);
  const waiting = new Map<number, (result: StartResult | null) => void>();
  let isUnavailable = false;
  let startedCount = 0;
  let filling: Promise<void> | null = null;
  let isWanted = false;

  const startOne = async (row: Startable): Promise<void> => {
    const result = await startAdmitted(deps, row);
    metrics.workflowStart(result);
    if (result === 'started') {
      startedCount += 1;
      unseen.add(row.kind, row.number);
    }
    if (result === 'unavailable') {
      isUnavailable = true;
      queue.push(row);
    }
    waiting.get(row.number)?.(result);
    active.delete(row.number);
    void fill();
  };

  const claimSome = async (): Promise<void> => {
    if (queue.length > 0) return;
    const limit = Math.min(startsAtOnce, (await unseen.room()) - active.size);
    if (limit <= 0) return;
    const nowMs = now();
    const claim = { limit, nowMs, claimUntilMs: nowMs + claimMs, maxOpenOnHost };
    queue.push(...(await store.admissions.claim(claim)));
  };

  /** Sealed data of rows that will never start is deleted or kept for a retry; if that fails, it expires. */
  const moveQueue = async (): Promise<void> => {
    const { ended } = await store.admissions.admitWaiting(now());
    await Promise.all(
      ended.map((each) => (each.isRetriable ? keepSealed(deps.vault, each) : deleteSealed(deps.vault, each))),
    );
  };

  const fillOnce = async (): Promise<void> => {
    try {
      while (isWanted) {
        isWanted = false;
        await moveQueue();
        while (!isUnavailable && active.size < startsAtOnce) {
          const asked = [...waiting.keys()];
          await claimSome();
          const row = isUnavailable ? undefined : queue.shift();
          if (row === undefined) {
            // These rows existed before the claim but could not be claimed: they wait for room, or another replica has them.
            for (const number of asked) if (!isUnavailable && !active.has(number)) waiting.get(number)?.(null);
            break;
          }
          // An expired claim may be returned while its start is still under way.
          if (!active.has(row.number)) active.set(row.number, startOne(row));
        }
      }
    } catch (error) {
      logger.warn({ err: error }, 'admitted rows could not be claimed now');
    }
  };
  const fill = (): Promise<void> => {
    isWanted = true;
    filling ??= fillOnce().finally(() => {
      filling = null;
      // A round was requested between the end of the loop and now.
      if (isWanted) void fill();
    });
    return filling;
  };

  return {
    async round() {
      if (isUnavailable) isUnavailable = !(await workflows.isReachable());
      await fill();
      await Promise.all(active.values());
    },

    async begin(number) {
      if (isUnavailable) return 'later';
      const before = startedCount;
      const result = await resultSoon(number);
      if (result === 'started' || result === 'refused') return result;
      if (result !== null) return 'later';
      if (!active.has(number) || startedCount > before) return 'unknown';
      // Temporal has not completed this start or any other in that time: it is slow or unavailable.
      return (await workflows.isReachable()) ? 'unknown' : 'later';
    },
  };

  async function resultSoon(number: number): Promise<StartResult | null> {
    const { promise, resolve } = Promise.withResolvers<StartResult | null>();
    waiting.set(number, resolve);
    const timer = setTimeout(() => resolve(null), shortMomentMs);
    void fill();
    return promise.finally(() => {
      clearTimeout(timer);
      waiting.delete(number);
    });
  }
}

/** Temporal needs some 15 ms for a start, and a server on one machine starts about 100 a second. */
const startsAtOnce = 16;
/** Longer than the deadline of a start: when a claim expires, its process has crashed or found Temporal unavailable. */
const claimMs = 10_000;
/** How long the response to a create waits for the start. */
const shortMomentMs = 500;
