// Observations and decisions of the check for stuck workflows. Plain data: it passes through workflows, activities and the object store.

/** An open workflow with an uncompleted workflow task, from its description and its history. */
export interface StuckObservation {
  workflowId: string;
  runId: string;
  /** The attempt of the pending workflow task. */
  attempt: number;
  /** The last failure since a workflow task was completed; null when there is none: the task waits, or its attempts ran out of time. */
  failure: { cause: string; message: string; buildId: string } | null;
  /**
   * The workflow task whose commands the code does not follow; null when unknown. `isRepeated`: an earlier workflow task was scheduled for the same
   * work and not completed.
   */
  writer: { completedEventId: number; buildId: string; hasUpdate: boolean; isRepeated: boolean } | null;
}

/** A completed reset. */
export interface Reset {
  workflowId: string;
  atMs: number;
}

/** `nothing`: time or a Temporal worker will resolve it. `report`: an operator must act. */
export type StuckDecision =
  | { do: 'nothing' }
  | { do: 'reset'; toEventId: number; text: string }
  | { do: 'report'; text: string };

export interface StuckWorkflow {
  workflowId: string;
  outcome: 'reset' | 'would be reset' | 'reported';
  /** Why it is stuck, and why it was not reset. */
  text: string;
}
