// What the healing looks at and decides. Plain data: it crosses workflows, activities and the object store.

/** One open workflow whose workflow task does not get done, as the server and its history tell of it. */
export interface Standstill {
  workflowId: string;
  runId: string;
  /** Of the workflow task that is pending now. */
  attempt: number;
  /** The last failure of a workflow task since one was completed; null when there is none, and it merely waits. */
  failure: { cause: string; message: string; buildId: string } | null;
  /**
   * The workflow task that wrote what the code does not follow; null when that cannot be told. It is repeated when one before
   * it was scheduled for the same work and not done.
   */
  writer: { completedEventId: number; buildId: string; hasUpdate: boolean; isRepeated: boolean } | null;
}

/** A reset that was done. */
export interface Reset {
  workflowId: string;
  atMs: number;
}

/** `nothing` is for everything that time or a Temporal worker will mend. */
export type HealDecision =
  | { do: 'nothing' }
  | { do: 'reset'; toEventId: number; text: string }
  | { do: 'tell'; text: string };

export interface Healed {
  workflowId: string;
  /** `told`: it stands still, and nothing was done about it, for the reason that the text gives. */
  outcome: 'reset' | 'would be reset' | 'told';
  text: string;
}
