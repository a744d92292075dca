// The slots of a Temporal worker: replays wait for each other, and tasks of cached workflows wait for no replay.
import type { SlotPermit, SlotReserveContext } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';

import { createWorkflowSlots, workflowSlotsOf, workflowTaskOptions } from '../../platform/workflow-slots.ts';

const poll = (isSticky: boolean): SlotReserveContext => ({
  ...{ slotType: 'workflow', taskQueue: 'control', workerIdentity: 'w', workerBuildId: 'b', isSticky },
});
const never = new AbortController().signal;

describe('the slots of a Temporal worker', () => {
  it('bound replays by the cores, whatever waits: each of more would miss the workflow task timeout', () => {
    expect([1, 2, 8].map((cores) => workflowSlotsOf(cores).replays)).toEqual([5, 5, 9]);
    expect(workflowSlotsOf(2).cached).toBeGreaterThanOrEqual(20);
  });

  it('are those of the worker, whose sticky queue holds the tasks of a killed one for 2 s at most', () => {
    const { tuner, ...options } = workflowTaskOptions(2);
    const slots = tuner.workflowTaskSlotSupplier;
    const granted = (isSticky: boolean) =>
      Array.from({ length: 100 }, () => slots.tryReserveSlot(poll(isSticky))).filter((permit) => permit !== null)
        .length;
    expect([granted(false), granted(true)]).toEqual([5, 40]);
    expect(options).toMatchObject({ stickyQueueScheduleToStartTimeout: '2s', maxCachedWorkflows: 2_000 });
  });

  it('give replays and cached workflows slots of their own', async () => {
    const slots = createWorkflowSlots({ cached: 2, replays: 1 });
    const replay = await slots.reserveSlot(poll(false), never);
    expect(slots.tryReserveSlot(poll(false))).toBeNull();
    await slots.reserveSlot(poll(true), never);
    await slots.reserveSlot(poll(true), never);
    expect(slots.tryReserveSlot(poll(true))).toBeNull();
    slots.releaseSlot({ permit: replay });
    expect(slots.tryReserveSlot(poll(true))).toBeNull();
    expect(slots.tryReserveSlot(poll(false))).not.toBeNull();
  });

  it('go to those that wait, in order; a poll that is given up takes none', async () => {
    const slots = createWorkflowSlots({ cached: 1, replays: 1 });
    const first = await slots.reserveSlot(poll(false), never);
    const ending = new AbortController();
    const got: string[] = [];
    const wait = (name: string, signal: AbortSignal): Promise<SlotPermit | null> =>
      slots.reserveSlot(poll(false), signal).then(
        (permit) => {
          got.push(name);
          return permit;
        },
        () => null,
      );
    const waiting = [wait('second', never), wait('given up', ending.signal), wait('third', never)];
    ending.abort();
    slots.releaseSlot({ permit: first });
    const second = await waiting[0];
    expect([got, await waiting[1]]).toEqual([['second'], null]);
    if (second) slots.releaseSlot({ permit: second });
    await waiting[2];
    expect(got).toEqual(['second', 'third']);
  });
});
