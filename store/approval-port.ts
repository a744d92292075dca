// The store's port for approvals before spend.
import type { Approval, ApprovalRule, ApprovalState, Decision } from '../domain/admission/approval.ts';
import type { By } from '../domain/people/state.ts';
import type { Answer } from './answer.ts';

/** The sealed objects of an ended one are no longer needed. */
export interface DecidedApproval {
  approval: Approval;
  admissionId: string;
}

export interface ApprovalStore {
  /** Null: nothing needs an approval. */
  rule(workspace: string): Promise<ApprovalRule | null>;
  /** Applies to later requests; admin. Null: nothing needs an approval from now on; waiting requests keep waiting. */
  setRule(
    workspace: string,
    change: { rule: ApprovalRule | null; by: By },
    nowMs: number,
  ): Promise<Answer<ApprovalRule | null>>;
  /** Newest first. */
  list(
    workspace: string,
    query: { states?: readonly ApprovalState[]; before: number | null; limit: number },
  ): Promise<Approval[]>;
  find(workspace: string, number: number): Promise<Approval | null>;
  /**
   * Moves it on in the queue, or ends it. A repeated decision counts once. A webhook's decision (by its id) counts once, and
   * only while the webhook may decide with the token of `by`.
   */
  decide(
    workspace: string,
    item: Decision & { number: number; by: By; webhook?: string },
    nowMs: number,
  ): Promise<Answer<DecidedApproval>>;
}
