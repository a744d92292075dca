// The store's port for schedules of jobs, and their runs. The row has the desired state; Temporal's Schedule follows it.
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
  /** Why it stopped by itself; null otherwise. */
  stopped: string | null;
  /** The user of its jobs. */
  user: string;
  userId: string;
  command: string;
  /** The job of its newest run. */
  lastJob: number | null;
  /** Incremented with each change; Temporal's Schedule matches `syncedVersion`. */
  version: number;
  isDeleted: boolean;
  createdAtMs: number;
}

export interface ScheduleRun {
  schedule: string;
  /** Unique id; from Temporal, or of a trigger. */
  run: string;
  atMs: number;
  state: 'due' | 'started' | 'skipped' | 'refused';
  job: number | null;
  text: string | null;
}

export interface ScheduleStore {
  /** NAME_TAKEN when the workspace has a schedule of that name. */
  create(schedule: JobSchedule): Promise<Answer<JobSchedule>>;
  find(workspace: string, name: string): Promise<JobSchedule | null>;
  findById(id: string): Promise<JobSchedule | null>;
  /** By name. */
  list(workspace: string): Promise<JobSchedule[]>;
  /** Null when the id does not exist, or is deleted. */
  change(
    id: string,
    change: { isPaused?: boolean; stopped?: string | null; isDeleted?: true },
  ): Promise<JobSchedule | null>;
  /** Schedules that differ from Temporal's. */
  listUnsynced(limit: number): Promise<JobSchedule[]>;
  /** Records that Temporal matches this version; deletes the row of a deleted one. */
  synced(id: string, version: number): Promise<void>;
  /** False when the run exists, or the schedule does not exist or is deleted. */
  addRun(run: Pick<ScheduleRun, 'schedule' | 'run' | 'atMs'>): Promise<boolean>;
  /** Runs that are due, claimed or not. */
  countDue(schedule: string): Promise<number>;
  /** Due runs, oldest first, for one process until `claimUntilMs`; `ofWorkspace`: of one workspace, at most. */
  claimRuns(query: { limit: number; ofWorkspace: number; nowMs: number; claimUntilMs: number }): Promise<ScheduleRun[]>;
  settleRun(run: string, result: Pick<ScheduleRun, 'state' | 'job' | 'text'>): Promise<void>;
  /** Newest first. */
  listRuns(schedule: string, limit: number): Promise<ScheduleRun[]>;
}
