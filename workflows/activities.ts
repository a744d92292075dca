// Activities that any Temporal worker can run.
import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';

import type { RecordActivities, SpecActivities, TaskPageActivities } from '../contracts/activities.ts';

const cancellationType = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED;

/** Short activities, retried without limit. */
export const control = proxyActivities<RecordActivities & SpecActivities & TaskPageActivities>({
  startToCloseTimeout: '5s',
  cancellationType,
  retry: { initialInterval: '200ms', maximumInterval: '10s' },
});

/** Writes that the workflow repeats by itself; the timeout keeps them from delaying continue-as-new. */
export const bounded = proxyActivities<RecordActivities & TaskPageActivities>({
  startToCloseTimeout: '5s',
  scheduleToCloseTimeout: '20s',
  cancellationType,
  retry: { initialInterval: '200ms', maximumInterval: '5s' },
});
