// The check for stuck workflows: their workflow task fails again and again, so that nothing goes on. A Temporal Schedule runs
// it, and `ropewalk doctor` does.
import type { StuckWorkflow } from '../domain/stuck/state.ts';

export const stuckWorkflowsType = 'stuckWorkflows';
export const stuckWorkflowsScheduleId = 'stuck-workflows';

/** Started by an operator: at most one of them at a time. */
export const stuckWorkflowsNowId = 'stuck-workflows/now';
export const stuckWorkflowsDryRunId = 'stuck-workflows/dry-run';

export interface StuckWorkflowsInput {
  deploymentId: string;
  /** False: reports what it would reset, and resets nothing. */
  autoReset: boolean;
}

export interface StuckWorkflowsReport {
  /** Why nothing was checked; null when all was well. */
  refusal: string | null;
  checked: number;
  /** Workflows that could not be described. */
  unknown: string[];
  stuck: StuckWorkflow[];
}
