// The Temporal Schedules of a deployment. Created once; later runs update their settings, and keep a schedule paused that an
// operator has paused.
import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { ScheduleDescription, ScheduleOptions, ScheduleOptionsAction } from '@temporalio/client';

import { controlQueue } from '../../contracts/flush.ts';
import {
  type StuckWorkflowsInput,
  stuckWorkflowsScheduleId,
  stuckWorkflowsType,
} from '../../contracts/stuck-workflows.ts';
import { sweepScheduleId, sweepType, type SweepInput } from '../../contracts/sweep.ts';
import { workflowTaskTimeoutMs } from '../../domain/workflow-limits.ts';

export interface Schedule {
  /** Also the prefix of its workflows' ids. */
  scheduleId: string;
  everyMs: number;
  workflowType: string;
  input: object;
  memo?: Record<string, unknown>;
  /** Shown in the Temporal UI. */
  summary: string;
  details: string;
}

export interface SweepTarget {
  deploymentId: string;
  provider: string;
  providerQueue: string;
}

export interface SweepTiming {
  everyMs: number;
  graceMs: number;
}

/** Returns its changes, as sentences; empty when the schedule existed with these settings. */
export async function ensureSweepSchedule(client: Client, target: SweepTarget, timing: SweepTiming): Promise<string[]> {
  const { everyMs, graceMs } = timing;
  const input: SweepInput = { ...target, graceMs, dryRun: false };
  return ensureSchedule(client, {
    scheduleId: sweepScheduleId(target.providerQueue),
    everyMs,
    workflowType: sweepType,
    input,
    summary: `Sweep of ${target.providerQueue}`,
    details: 'Terminates instances that carry the tags of this deployment and that no open cluster claims.',
  });
}

export interface StuckWorkflowsSettings {
  everyMs: number;
  /** False: stuck workflows are only reported. */
  autoReset: boolean;
}

/** Returns its changes, as sentences; empty when the schedule existed with these settings. */
export async function ensureStuckWorkflowsSchedule(
  client: Client,
  deploymentId: string,
  { everyMs, autoReset }: StuckWorkflowsSettings,
): Promise<string[]> {
  const input: StuckWorkflowsInput = { deploymentId, autoReset };
  return ensureSchedule(client, {
    scheduleId: stuckWorkflowsScheduleId,
    everyMs,
    workflowType: stuckWorkflowsType,
    input,
    summary: 'Finds stuck workflows',
    details: 'Resets those that a known fault of the Temporal SDK has stopped, and reports the others.',
  });
}

async function ensureSchedule(client: Client, schedule: Schedule): Promise<string[]> {
  if (await createSchedule(client, schedule)) return [`created the schedule ${describe(schedule)}`];
  return updateSchedule(client, schedule);
}

/** False when a schedule with this id exists; it may be another deployment's. */
export async function createSchedule(client: Client, schedule: Schedule): Promise<boolean> {
  const { scheduleId, memo } = schedule;
  try {
    await client.schedule.create({ scheduleId, ...optionsOf(schedule), ...(memo === undefined ? {} : { memo }) });
    return true;
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return false;
    throw error;
  }
}

/**
 * Returns its changes, as sentences. Keeps the memo and the pause. The server applies an update after it has answered, and
 * drops one that conflicts with another change of the schedule, such as a pause, so the update is repeated until it is visible.
 */
export async function updateSchedule(client: Client, schedule: Schedule): Promise<string[]> {
  const handle = client.schedule.getHandle(schedule.scheduleId);
  const changes: string[] = [];
  const deadline = Date.now() + settleWithinMs;
  while (!isAsWanted(await handle.describe(), schedule)) {
    if (Date.now() > deadline) {
      throw new Error(`schedule ${schedule.scheduleId} did not change within ${settleWithinMs / 1_000} s`);
    }
    await handle.update((previous) => ({ ...previous, ...optionsOf(schedule) }));
    if (changes.length === 0) changes.push(`changed the schedule ${describe(schedule)}`);
    else await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return changes;
}

const settleWithinMs = 20_000;

const isAsWanted = ({ spec, action }: ScheduleDescription, { input, everyMs }: Schedule): boolean =>
  JSON.stringify(sorted(action.args?.[0])) === JSON.stringify(sorted(input)) && spec.intervals?.[0]?.every === everyMs;

const describe = ({ scheduleId, everyMs }: Schedule): string => `${scheduleId}, every ${everyMs / 1_000} s`;

const optionsOf = (
  schedule: Schedule,
): Pick<ScheduleOptions, 'spec' | 'policies'> & { action: ScheduleOptionsAction } => ({
  spec: { intervals: [{ every: schedule.everyMs }] },
  // After an outage one run is enough.
  policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
  action: {
    type: 'startWorkflow',
    workflowType: schedule.workflowType,
    workflowId: schedule.scheduleId,
    taskQueue: controlQueue,
    args: [schedule.input],
    workflowTaskTimeout: workflowTaskTimeoutMs,
    // A hanging run would block all later ones.
    workflowRunTimeout: runTimeoutMs,
    staticSummary: schedule.summary,
    staticDetails: schedule.details,
  },
});

const runTimeoutMs = 15 * 60_000;

/** The server returns the keys of an object in any order. */
const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).toSorted(([a], [b]) => a.localeCompare(b))
    : value;
