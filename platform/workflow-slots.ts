// How many workflow tasks a Temporal worker has at once, cached workflows and replays apart. A task of a cached workflow takes some
// milliseconds of processor time, and most of its time it waits for Temporal: many at once. A workflow that is not cached is
// replayed first: with many more replays at once than cores, all of them miss the workflow task timeout, and each begins again.
import type {
  CustomSlotSupplier,
  SlotPermit,
  SlotReserveContext,
  WorkerOptions,
  WorkflowSlotInfo,
} from '@temporalio/worker';

export interface WorkflowSlots {
  /** Tasks of the worker's own (sticky) queue. */
  cached: number;
  /** Tasks of the shared queue: replays, and first tasks. */
  replays: number;
}

/**
 * Five on a small machine: between two replays a slot waits for Temporal, so that fewer leave the processor idle (bench `restart`),
 * and five of the longest histories at once are replayed within the workflow task timeout.
 */
export const workflowSlotsOf = (cores: number): WorkflowSlots => ({ cached: 40, replays: Math.max(5, cores + 1) });

/** How a Temporal worker takes workflow tasks. */
export const workflowTaskOptions = (cores: number) =>
  ({
    tuner: {
      workflowTaskSlotSupplier: createWorkflowSlots(workflowSlotsOf(cores)),
      activityTaskSlotSupplier: { type: 'fixed-size', numSlots: 100 },
      localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: 100 },
      nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
    },
    maxConcurrentWorkflowTaskPolls: 10,
    // A killed worker's sticky queue would hold each of its workflows for 10 s otherwise.
    stickyQueueScheduleToStartTimeout: '2s',
    maxCachedWorkflows: 2_000,
  }) satisfies Partial<WorkerOptions>;

class Permit implements SlotPermit {
  readonly isSticky: boolean;

  constructor(isSticky: boolean) {
    this.isSticky = isSticky;
  }
}

/** The slots of a worker's tuner. An open poll holds a slot too. */
export function createWorkflowSlots({ cached, replays }: WorkflowSlots): CustomSlotSupplier<WorkflowSlotInfo> {
  const kinds = { sticky: createPool(cached), normal: createPool(replays) };
  const poolOf = (isSticky: boolean): Pool => (isSticky ? kinds.sticky : kinds.normal);
  return {
    type: 'custom',
    reserveSlot: async ({ isSticky }: SlotReserveContext, abort) => {
      await poolOf(isSticky).take(abort);
      return new Permit(isSticky);
    },
    tryReserveSlot: ({ isSticky }) => (poolOf(isSticky).tryTake() ? new Permit(isSticky) : null),
    markSlotUsed: () => undefined,
    releaseSlot: ({ permit }) => {
      if (permit instanceof Permit) poolOf(permit.isSticky).release();
    },
  };
}

interface Pool {
  tryTake(): boolean;
  /** In the order of the calls. Rejects when it is aborted first. */
  take(abort: AbortSignal): Promise<void>;
  release(): void;
}

function createPool(size: number): Pool {
  let free = size;
  const waiting = new Set<() => void>();
  const tryTake = (): boolean => {
    if (free === 0) return false;
    free -= 1;
    return true;
  };
  return {
    tryTake,
    take: (abort) => {
      if (tryTake()) return Promise.resolve();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const stop = (): void => {
        waiting.delete(resolve);
        reject(abort.reason);
      };
      waiting.add(resolve);
      abort.addEventListener('abort', stop, { once: true });
      return promise.finally(() => abort.removeEventListener('abort', stop));
    },
    release: () => {
      const [next] = waiting;
      if (next === undefined) {
        free += 1;
        return;
      }
      waiting.delete(next);
      next();
    },
  };
}
