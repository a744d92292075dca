// The tables of the queue and of approvals, as the queries see them.
import type { ApprovalState } from '../domain/admission/approval.ts';
import type { RecordKind } from './admission-port.ts';

/** Jobs and clusters in the queue, with their future reservations. */
export interface QueueEntryTable {
  number: number;
  kind: RecordKind;
  workspace: string;
  user_name: string;
  admission_id: string;
  priority: number;
  instances: number;
  vcpus: number;
  worker_vcpus: number;
  /** 1: it waits for no job and no approval. */
  is_ready: number;
  awaits_approval: number;
  /** JSON of the reason why it can never start; null otherwise. */
  refusal: string | null;
  /** JSON of the budget that holds it, as in its record; null when none does. */
  hold: string | null;
}

export interface ApprovalRuleTable {
  workspace: string;
  micros_per_hour: number | null;
  total_micros: number | null;
  allow_own: number;
  timeout_ms: number;
}

export interface ApprovalTable {
  number: number;
  workspace: string;
  kind: RecordKind;
  name: string;
  user_name: string;
  user_id: string;
  micros_per_hour: number | null;
  total_micros: number | null;
  why: string;
  state: ApprovalState;
  asked_at_ms: number;
  expires_at_ms: number;
  decided_at_ms: number | null;
  decided_by: string | null;
  comment: string | null;
}
