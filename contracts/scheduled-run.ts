// A run of a user's schedule: Temporal's Schedule starts this workflow, which writes to the database that the run is due. The API then submits the
// job, as the schedule's user.
export const scheduledRunType = 'scheduledRun';
export const userScheduleId = (schedule: string): string => `schedule/${schedule}`;
export const scheduledRunId = (schedule: string): string => `scheduled-run/${schedule}`;

export interface ScheduledRunInput {
  schedule: string;
}
