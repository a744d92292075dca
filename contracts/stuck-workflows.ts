// The check for stuck workflows, whose workflow tasks fail again and again. A Temporal Schedule and `ropewalk doctor` run it.
import type { StuckWorkflow } from '../domain/stuck/state.ts';

export const stuckWorkflowsType = 'stuckWorkflows';
export const stuckWorkflowsScheduleId = 'stuck-workflows';

/** Started by an operator; at most one runs at a time. */
export const stuckWorkflowsNowId = 'stuck-workflows/now';
export const stuckWorkflowsDryRunId = 'stuck-workflows/dry-run';

export interface StuckWorkflowsInput {
  deploymentId: string;
  /** False: only reports which workflows it would reset. */
  autoReset: boolean;
}

export interface StuckWorkflowsReport {
  /** Why nothing was checked; null after a check. */
  refusal: string | null;
  checked: number;
  /** Workflows that could not be described. */
  unknown: string[];
  stuck: StuckWorkflow[];
}
