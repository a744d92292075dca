// When a workflow continues as new: when Temporal suggests it, or earlier, so a replay of the history fits in the timeout of a workflow task. A
// Temporal worker replays the history after a restart or an eviction from its cache.
import { workflowInfo } from '@temporalio/workflow';

import { isLongRun } from '../domain/run-length.ts';

export function shouldContinueAsNew(): boolean {
  const { continueAsNewSuggested, historyLength, runStartTime } = workflowInfo();
  return continueAsNewSuggested || isLongRun({ events: historyLength, ageMs: Date.now() - runStartTime.getTime() });
}
