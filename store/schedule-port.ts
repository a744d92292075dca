// The part of the store's port that is schedules of jobs, and their runs. The row says what should be; Temporal's Schedule follows.
import type { Overlap } from '../domain/schedule/rules.ts';
import type { Answer } from './answer.ts';

export interface JobSchedule {
  id: string;
  workspace: string;
  name: string;
  cron: string;
  timezone: string;
  overlap: Overlap;
  isPaused: boolean;
  /** Why it stopped by itself; null while it has not. */
  stopped: string | null;
  /** As whom its jobs run. */
  user: string;
  userId: string;
  command: string;
  /** Of its newest run. */
  lastJob: number | null;
  /** Counts up with each change; Temporal has followed up to `syncedVersion`. */
  version: number;
  isDeleted: boolean;
  createdAtMs: number;
}

export interface ScheduleRun {
  schedule: string;
  /** Unique; from Temporal, or of a trigger. */
  run: string;
  atMs: number;
  state: 'due' | 'started' | 'skipped' | 'refused';
  job: number | null;
  text: string | null;
}

export interface ScheduleStore {
  /** NAME_TAKEN when the workspace has one of that name. */
  create(schedule: JobSchedule): Promise<Answer<JobSchedule>>;
  find(workspace: string, name: string): Promise<JobSchedule | null>;
  findById(id: string): Promise<JobSchedule | null>;
  /** By name. */
  list(workspace: string): Promise<JobSchedule[]>;
  /** Null when there is none of that id, or it was deleted. */
  change(
    id: string,
    change: { isPaused?: boolean; stopped?: string | null; isDeleted?: true },
  ): Promise<JobSchedule | null>;
  /** Those whose Schedule in Temporal is not as it should be. */
  listUnsynced(limit: number): Promise<JobSchedule[]>;
  /** Temporal has followed up to this version; the row of a deleted one goes. */
  synced(id: string, version: number): Promise<void>;
  /** False when it is known, or the schedule does not exist or is deleted. */
  addRun(run: Pick<ScheduleRun, 'schedule' | 'run' | 'atMs'>): Promise<boolean>;
  /** Due runs, oldest first, for one process until `claimUntilMs`. */
  claimRuns(query: { limit: number; nowMs: number; claimUntilMs: number }): Promise<ScheduleRun[]>;
  settleRun(run: string, result: Pick<ScheduleRun, 'state' | 'job' | 'text'>): Promise<void>;
  /** Newest first. */
  listRuns(schedule: string, limit: number): Promise<ScheduleRun[]>;
}
