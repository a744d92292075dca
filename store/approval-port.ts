// The part of the store's port that is approvals before spend.
import type { Approval, ApprovalRule, ApprovalState, Decision } from '../domain/admission/approval.ts';
import type { By } from '../domain/people/state.ts';
import type { Answer } from './answer.ts';

/** What is sealed for one that ended is needed no more. */
export interface DecidedApproval {
  approval: Approval;
  admissionId: string;
}

export interface ApprovalStore {
  /** Null: nothing needs an approval. */
  rule(workspace: string): Promise<ApprovalRule | null>;
  /** Of later requests; admin. Null: nothing needs an approval any more; what waits goes on waiting. */
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
   * Admits it to the rest of the queue, or ends it. The same decision twice is one; that of a webhook (its id) counts once, and only
   * while the webhook may decide with the token of `by`.
   */
  decide(
    workspace: string,
    item: Decision & { number: number; by: By; webhook?: string },
    nowMs: number,
  ): Promise<Answer<DecidedApproval>>;
}
