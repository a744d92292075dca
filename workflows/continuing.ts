// When a workflow continues as new: when Temporal suggests it, or sooner, while its history can be replayed within the time of
// a workflow task. A worker that has been restarted, or has forgotten it, begins with a replay.
import { workflowInfo } from '@temporalio/workflow';

import { isLongRun } from '../domain/run-length.ts';

export function shouldContinueAsNew(): boolean {
  const { continueAsNewSuggested, historyLength, runStartTime } = workflowInfo();
  return continueAsNewSuggested || isLongRun({ events: historyLength, ageMs: Date.now() - runStartTime.getTime() });
}
