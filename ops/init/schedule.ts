// The Temporal Schedules that run the sweep and the healing. Made once; later runs only bring them to today's settings, and
// leave them paused when somebody has paused them.
import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { ScheduleOptionsAction, ScheduleSpec } from '@temporalio/client';

import { workflowTaskTimeoutMs } from '../../domain/limits.ts';
import { controlQueue } from '../../contracts/flush.ts';
import { type HealInput, healScheduleId, healType } from '../../contracts/heal.ts';
import { sweepScheduleId, sweepType, type SweepInput } from '../../contracts/sweep.ts';

export interface SweepTarget {
  deploymentId: string;
  provider: string;
  providerQueue: string;
}

export interface SweepTiming {
  everyMs: number;
  graceMs: number;
}

/** What it changed, in sentences; none when all was there. */
export async function ensureSweepSchedule(client: Client, target: SweepTarget, timing: SweepTiming): Promise<string[]> {
  const { everyMs, graceMs } = timing;
  const scheduleId = sweepScheduleId(target.providerQueue);
  const input: SweepInput = { ...target, graceMs, dryRun: false };
  const action: ScheduleOptionsAction = {
    type: 'startWorkflow',
    workflowType: sweepType,
    workflowId: scheduleId,
    taskQueue: controlQueue,
    args: [input],
    workflowTaskTimeout: workflowTaskTimeoutMs,
    // A run that hangs would hold up all that follow.
    workflowRunTimeout: runTimeoutMs,
    staticSummary: `Sweep of ${target.providerQueue}`,
    staticDetails: 'Ends instances that carry the tags of this deployment and that no open cluster claims.',
  };
  return ensureSchedule(client, scheduleId, everyMs, action, input);
}

/** What it changed, in sentences; none when all was there. */
export async function ensureHealSchedule(client: Client, deploymentId: string, everyMs: number): Promise<string[]> {
  const input: HealInput = { deploymentId, dryRun: false };
  const action: ScheduleOptionsAction = {
    type: 'startWorkflow',
    workflowType: healType,
    workflowId: healScheduleId,
    taskQueue: controlQueue,
    args: [input],
    workflowTaskTimeout: workflowTaskTimeoutMs,
    workflowRunTimeout: runTimeoutMs,
    staticSummary: 'Looks for workflows that stand still',
    staticDetails: 'Resets those that a known fault of Temporal’s SDK stopped, and tells of the others.',
  };
  return ensureSchedule(client, healScheduleId, everyMs, action, input);
}

async function ensureSchedule(
  client: Client,
  scheduleId: string,
  everyMs: number,
  action: ScheduleOptionsAction,
  input: SweepInput | HealInput,
): Promise<string[]> {
  const spec: ScheduleSpec = { intervals: [{ every: everyMs }] };
  const said = `${scheduleId}, every ${everyMs / 1_000} s`;
  // After an outage one run is enough.
  const policies = { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' } as const;
  try {
    await client.schedule.create({ scheduleId, spec, action, policies });
    return [`created the schedule ${said}`];
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
  const handle = client.schedule.getHandle(scheduleId);
  const found = await handle.describe();
  const foundEveryMs = found.spec.intervals?.[0]?.every;
  const isSame = JSON.stringify(sorted(found.action.args?.[0])) === JSON.stringify(sorted(input));
  if (isSame && foundEveryMs === everyMs) return [];
  await handle.update((previous) => ({ ...previous, spec, action, policies }));
  return [`changed the schedule ${said}`];
}

const runTimeoutMs = 15 * 60_000;

/** What comes back from the server may have its names in another order. */
const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).toSorted(([a], [b]) => a.localeCompare(b))
    : value;
