// The port to admissions, to the queue, and to the start of what was admitted.
import type { Admitted, AdmitItem, Answer, RecordKind, Startable } from './store.ts';

export interface AdmissionStore {
  /** Idempotency key, unique open name, quota, number, row, in one transaction. */
  admit(item: AdmitItem, nowMs: number): Promise<Answer<Admitted>>;
  /**
   * Admitted rows without a claim, oldest first; the claim ends by itself at `claimUntilMs`. Of one host, only as many as leave at
   * most `maxOpenOnHost` claimed or open there. Default: all.
   */
  claim(query: {
    limit: number;
    nowMs: number;
    claimUntilMs: number;
    number?: number;
    maxOpenOnHost?: number;
  }): Promise<Startable[]>;
  /** The workflow has started (again): idempotent. */
  started(kind: RecordKind, number: number): Promise<void>;
  /**
   * Admits the jobs whose wait has ended, that no used-up budget meets, and that fit into the quota, by priority
   * (domain/admission/queue.ts), and ends those that can never start. Answers the ended ones: what is sealed for them is needed no more.
   */
  admitWaiting(nowMs: number): Promise<{ admitted: number; ended: { workspace: string; admissionId: string }[] }>;
  /** Ends a job that waits. False when it does not wait, or not any more. */
  cancelWaiting(number: number, reason: { code: string; text: string }, nowMs: number): Promise<boolean>;
  /**
   * Ends an admitted row whose start no process has ever claimed, and releases name and quota. False for any other: its start may be
   * under way, or done.
   */
  endUnclaimed(item: {
    kind: RecordKind;
    number: number;
    status: 'cancelled' | 'stopped';
    reason: { code: string; text: string };
    nowMs: number;
  }): Promise<boolean>;
  /** The workflow can never be started: ends the row with this reason and releases name and quota. */
  refused(kind: RecordKind, number: number, reason: { code: string; text: string }, nowMs: number): Promise<void>;
}
