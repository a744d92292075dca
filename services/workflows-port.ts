// The API's calls to Temporal, narrow enough to be replaced in a test. temporal-port.ts is the real implementation. Methods throw RopewalkError
// UNAVAILABLE when Temporal or its workers do not answer in time; a closed or missing workflow is an ordinary outcome, not an error.
import type { WorkflowStart } from '../contracts/start.ts';

export type UpdateOutcome<O> =
  | { kind: 'done'; value: O }
  /** The run ended while the update waited, as at every continue-as-new. The update was never applied, so try again. */
  | { kind: 'aborted' }
  | Gone;

export type ReadOutcome<O> = { kind: 'value'; value: O } | Gone;

/** `closed`: it ran and ended. `missing`: Temporal has no such workflow, or no longer. */
export type Gone = { kind: 'closed' } | { kind: 'missing' };

export type StartOutcome =
  | { kind: 'started' }
  /** The id is in use by a workflow whose memo names this admission; null when it names none. */
  | { kind: 'exists'; admissionId: string | null };

export type ResultOutcome<O> =
  | { kind: 'value'; value: O }
  /** It ended without a result: failed, terminated from outside, timed out. */
  | { kind: 'failed'; text: string }
  | { kind: 'missing' };

export interface WorkflowsPort {
  /** At most one start per id. Throws INTERNAL when Temporal refuses the request itself, because a retry would be refused too. */
  start(start: WorkflowStart): Promise<StartOutcome>;
  /** An updateId is applied once per run, however often it is sent. */
  update<I, O>(
    workflowId: string,
    name: string,
    input: I,
    /** `deadlineAtMs` by `performance.now()`. */
    options: { updateId: string; deadlineAtMs: number },
  ): Promise<UpdateOutcome<O>>;
  /** Open workflows only. */
  query<O, I = undefined>(workflowId: string, name: string, input?: I): Promise<ReadOutcome<O>>;
  signal<I>(workflowId: string, name: string, input: I): Promise<{ kind: 'sent' } | Gone>;
  /** The result of a closed workflow; never waits for an open one to end. */
  result<O>(workflowId: string): Promise<ResultOutcome<O>>;
  /** Returns whether Temporal is reachable now. Never throws. */
  isReachable(): Promise<boolean>;
}
