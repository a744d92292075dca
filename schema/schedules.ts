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
  /** Of the cron fields: a name of the IANA database. */
  timezone: z.string().min(1).max(100).default('UTC'),
  /** When the job of an earlier run has not ended: leave this run out, run both, start after it, or cancel it first. */
  overlap: z.enum(overlaps).default('skip'),
  /** What each run submits, as in POST /v1/jobs. It is stored encrypted. */
  job: createJob,
});
export type CreateSchedule = z.input<typeof createSchedule>;
export type CreateScheduleParsed = z.output<typeof createSchedule>;

const time = z.iso.datetime();
const count = z.number().int();

export const scheduleRun = z.object({
  at: time,
  /** `due`: its job is about to be submitted. */
  state: z.enum(['due', 'started', 'skipped', 'refused']),
  job: count.nullable(),
  /** Why it made no job. */
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
  /** As whom its jobs run. */
  user: z.string(),
  lastJob: count.nullable(),
  createdAt: time,
  /** Temporal is unavailable: the change takes effect when it is available again. */
  acceptedForLater: z.literal(true).optional(),
});
export type Schedule = z.infer<typeof schedule>;

export const scheduleDetails = schedule.extend({
  /** The next ones; empty while it is paused, and while Temporal is unavailable. */
  nextRuns: z.array(time),
  /** Newest first. */
  runs: z.array(scheduleRun),
});
export type ScheduleDetails = z.infer<typeof scheduleDetails>;

export const scheduleList = z.object({ items: z.array(schedule) });
export type ScheduleList = z.infer<typeof scheduleList>;
