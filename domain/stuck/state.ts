// What the check for stuck workflows observes and decides. Plain data: it crosses workflows, activities and the object store.

/** An open workflow whose workflow task is not completed, from its description and its history. */
export interface StuckObservation {
  workflowId: string;
  runId: string;
  /** Of the workflow task that is pending now. */
  attempt: number;
  /** The last failure since a workflow task was completed; null when there is none: then the task only waits. */
  failure: { cause: string; message: string; buildId: string } | null;
  /**
   * The workflow task that wrote what the code does not follow; null when that is unknown. It is repeated when an earlier one
   * was scheduled for the same work and not completed.
   */
  writer: { completedEventId: number; buildId: string; hasUpdate: boolean; isRepeated: boolean } | null;
}

/** A reset that was done. */
export interface Reset {
  workflowId: string;
  atMs: number;
}

/** `nothing`: time or a Temporal worker will mend it. `report`: an operator has to. */
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
