// Schedules of jobs over HTTP.
import { z } from 'zod';

import { overlaps } from '../domain/schedule/rules.ts';
import { nameInput } from './common.ts';
import { createJob } from './jobs.ts';

export const scheduleParams = z.object({ schedule: nameInput });

export const createSchedule = z.strictObject({
  name: nameInput,
  /** Five fields (`0 3 * * *`), or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
  cron: z.string().min(1).max(200),
  /** Time zone of the cron fields: a name in the IANA database. */
  timezone: z.string().min(1).max(100).default('UTC'),
  /** When the job of an earlier run has not ended: skip this run, run both, start after it, or cancel it first. */
  overlap: z.enum(overlaps).default('skip'),
  /** The request of each run, as in POST /v1/jobs. Stored encrypted. */
  job: createJob,
});
export type CreateSchedule = z.input<typeof createSchedule>;
export type CreateScheduleParsed = z.output<typeof createSchedule>;

const time = z.iso.datetime();
const count = z.number().int();

export const scheduleRun = z.object({
  at: time,
  /** `due`: its job will be submitted next. */
  state: z.enum(['due', 'started', 'skipped', 'refused']),
  job: count.nullable(),
  /** Why it submitted no job. */
  text: z.string().nullable(),
});
export type ScheduleRun = z.infer<typeof scheduleRun>;

export const schedule = z.object({
  name: z.string(),
  cron: z.string(),
  timezone: z.string(),
  overlap: z.enum(overlaps),
  state: z.enum(['active', 'paused', 'stopped']),
  /** Why it stopped by itself. */
  reason: z.string().nullable(),
  command: z.string(),
  /** The user as whom its jobs run. */
  user: z.string(),
  lastJob: count.nullable(),
  createdAt: time,
  /** Temporal is unavailable: the change takes effect when Temporal is available again. */
  acceptedForLater: z.literal(true).optional(),
});
export type Schedule = z.infer<typeof schedule>;

export const scheduleDetails = schedule.extend({
  /** The next ones; empty while the schedule is paused or Temporal is unavailable. */
  nextRuns: z.array(time),
  /** Newest first. */
  runs: z.array(scheduleRun),
});
export type ScheduleDetails = z.infer<typeof scheduleDetails>;

export const scheduleList = z.object({ items: z.array(schedule) });
export type ScheduleList = z.infer<typeof scheduleList>;
