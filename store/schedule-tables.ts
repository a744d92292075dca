// Rows of schedules of jobs and their runs.
import type { Overlap } from '../domain/schedule/rules.ts';

export interface ScheduleTable {
  id: string;
  workspace: string;
  name: string;
  cron: string;
  timezone: string;
  overlap: Overlap;
  is_paused: number;
  stopped: string | null;
  user_name: string;
  user_id: string;
  command: string;
  last_job: number | null;
  version: number;
  /** The version that Temporal's Schedule matches. */
  synced_version: number;
  is_deleted: number;
  created_at_ms: number;
}

export interface ScheduleRunTable {
  run: string;
  schedule: string;
  at_ms: number;
  state: 'due' | 'started' | 'skipped' | 'refused';
  job: number | null;
  text: string | null;
  claimed_until_ms: number;
}
