// One run of a user's schedule. Its job is no child workflow: it is admitted, named and ended like every other job.
import { proxyActivities, workflowInfo } from '@temporalio/workflow';

import type { ScheduleActivities } from '../../contracts/activities.ts';
import type { ScheduledRunInput } from '../../contracts/scheduled-run.ts';

export async function scheduledRun({ schedule }: ScheduledRunInput): Promise<void> {
  // The workflow id ends with the scheduled time.
  const { workflowId, startTime } = workflowInfo();
  await activities.noteScheduledRun.executeWithOptions({ summary: 'note that the run is due' }, [
    { schedule, run: workflowId, atMs: startTime.getTime() },
  ]);
}

const activities = proxyActivities<ScheduleActivities>({
  startToCloseTimeout: '5s',
  scheduleToCloseTimeout: '1h',
  retry: { initialInterval: '200ms', maximumInterval: '10s' },
});
