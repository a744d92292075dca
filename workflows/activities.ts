// Activities that any Temporal worker can run.
import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';

import type { RecordActivities, SpecActivities, TaskPageActivities } from '../contracts/activities.ts';

const cancellationType = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED;

/** Short, and retried for as long as it takes. */
export const control = proxyActivities<RecordActivities & SpecActivities & TaskPageActivities>({
  startToCloseTimeout: '5s',
  cancellationType,
  retry: { initialInterval: '200ms', maximumInterval: '10s' },
});

/** For writes that a workflow repeats by itself: continuing as new waits for them. */
export const bounded = proxyActivities<RecordActivities & TaskPageActivities>({
  startToCloseTimeout: '5s',
  scheduleToCloseTimeout: '20s',
  cancellationType,
  retry: { initialInterval: '200ms', maximumInterval: '5s' },
});
