// Temporal Schedules for users' jobs.
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleOptions,
} from '@temporalio/client';

import { controlQueue } from '../../contracts/flush.ts';
import {
  scheduledRunId,
  scheduledRunType,
  userScheduleId,
  type ScheduledRunInput,
} from '../../contracts/scheduled-run.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { catchUpMs } from '../../domain/schedule/rules.ts';
import type { JobSchedule } from '../../store/schedule-port.ts';
import type { SchedulesPort } from './port.ts';

/** `confirmNamespace` rejects while the namespace is not known to be the deployment's. */
export function createTemporalSchedules(client: Client, confirmNamespace: () => Promise<void>): SchedulesPort {
  const handle = (id: string) => client.schedule.getHandle(userScheduleId(id));
  const within = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      await confirmNamespace();
      return await client.withDeadline(Date.now() + deadlineMs, call);
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunning || error instanceof ScheduleNotFoundError) throw error;
      throw unavailable(error);
    }
  };
  return {
    async put(schedule) {
      const { id } = schedule;
      try {
        await within(() => client.schedule.create(optionsOf(schedule)));
      } catch (error) {
        if (!(error instanceof ScheduleAlreadyRunning)) throw error;
        // No other field of a schedule changes. Temporal drops an update that conflicts with another change, but never a pause.
        await within(() => (isHeld(schedule) ? handle(id).pause(note) : handle(id).unpause(note)));
      }
    },
    async delete(id) {
      await within(() => handle(id).delete()).catch((error: unknown) => {
        if (!(error instanceof ScheduleNotFoundError)) throw error;
      });
    },
    async nextRuns(id) {
      try {
        return (await within(() => handle(id).describe())).info.nextActionTimes;
      } catch {
        return [];
      }
    },
  };
}

const isHeld = ({ isPaused, stopped }: JobSchedule): boolean => isPaused || stopped !== null;
const note = 'By Ropewalk: the row in its database says so.';

function optionsOf(schedule: JobSchedule) {
  const { id, workspace, name, cron, timezone } = schedule;
  const input: ScheduledRunInput = { schedule: id };
  return {
    scheduleId: userScheduleId(id),
    spec: { cronExpressions: [cron], timezone },
    // Each run ends at once; whether the previous job is still open is checked when the next one is submitted.
    policies: { overlap: ScheduleOverlapPolicy.ALLOW_ALL, catchupWindow: catchUpMs },
    state: { paused: isHeld(schedule) },
    action: {
      type: 'startWorkflow',
      workflowType: scheduledRunType,
      workflowId: scheduledRunId(id),
      taskQueue: controlQueue,
      args: [input],
      staticSummary: `Run of the schedule ${name} in workspace ${workspace}`,
    },
  } satisfies ScheduleOptions;
}

const deadlineMs = 4_000;

const unavailable = (cause: unknown) =>
  new RopewalkError(
    {
      code: 'UNAVAILABLE',
      message: 'Temporal did not answer in time.',
      hint: 'Try again after the time given in Retry-After.',
    },
    { cause, retryAfterMs: 1_000 },
  );
