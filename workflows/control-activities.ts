// Activities that any Temporal worker can run: short, and retried for as long as it takes.
import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';

import type { NumberActivities } from '../activities/numbers.ts';
import type { ArchiveActivities } from '../contracts/activities.ts';

export type ControlActivities = ArchiveActivities & NumberActivities;

export const control = proxyActivities<ControlActivities>({
  startToCloseTimeout: '5s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '200ms', maximumInterval: '10s' },
});
