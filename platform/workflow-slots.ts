// The number of concurrent workflow tasks of a Temporal worker, with separate slots for cached workflows and replays. A cached
// workflow's task takes some milliseconds of processor time and mostly waits for Temporal, so it has many slots. A workflow
// that is not cached is replayed first: with many more concurrent replays than cores, all of them miss the workflow task
// timeout and start again.
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
 * At least five: between two replays a slot waits for Temporal, so fewer would leave the processor idle (bench `restart`), and
 * five concurrent replays of the longest histories finish within the workflow task timeout.
 */
export const workflowSlotsOf = (cores: number): WorkflowSlots => ({ cached: 40, replays: Math.max(5, cores + 1) });

/** A Temporal worker's options for workflow tasks. */
export const workflowTaskOptions = (cores: number) =>
  ({
    tuner: {
      workflowTaskSlotSupplier: createWorkflowSlots(workflowSlotsOf(cores)),
      activityTaskSlotSupplier: { type: 'fixed-size', numSlots: 100 },
      localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: 100 },
      nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
    },
    maxConcurrentWorkflowTaskPolls: 10,
    // Otherwise a killed worker's sticky queue would delay each of its workflows for 10 s.
    stickyQueueScheduleToStartTimeout: '2s',
    maxCachedWorkflows: 2_000,
  }) satisfies Partial<WorkerOptions>;

class Permit implements SlotPermit {
  readonly isSticky: boolean;

  constructor(isSticky: boolean) {
    this.isSticky = isSticky;
  }
}

/** The slot supplier of a worker's tuner. An open poll also occupies a slot. */
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
  /** Served in the order of the calls. Rejects when it is aborted first. */
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
