// A run of a user's schedule: Temporal's Schedule starts this workflow, which notes in the database that the run is due. The API
// submits its job, as the user whose schedule it is.
export const scheduledRunType = 'scheduledRun';
export const userScheduleId = (schedule: string): string => `schedule/${schedule}`;
export const scheduledRunId = (schedule: string): string => `scheduled-run/${schedule}`;

export interface ScheduledRunInput {
  schedule: string;
}
