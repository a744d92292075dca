// The port to admissions, to the queue, and to the start of what was admitted.
import type { StartSubject } from '../contracts/start.ts';
import type { Found } from '../domain/admission/admit.ts';
import type { CostEstimate } from '../domain/admission/approval.ts';
import type { QueueRequest } from '../domain/admission/queue.ts';
import type { Answer } from './answer.ts';

export type RecordKind = 'job' | 'cluster';

export interface AdmitItem {
  workspace: string;
  /** New for each request, kept by its retries; the started workflow's memo holds it. */
  admissionId: string;
  /** What the caller sent, scoped by user; the admission id when none was sent. */
  idempotencyKey: string;
  /** HMAC of the request body: the same key with another body is refused. */
  bodyHash: string;
  kind: RecordKind;
  /** Empty: named after its number, for example `job-12`. */
  name: string;
  /** When the name is taken by an open one of the same kind: answer that one instead of NAME_TAKEN. */
  getOrCreate: boolean;
  /** The number of an open one of this name that is ending, as the caller has seen: its name is free for this one. */
  instead?: number;
  privateToCreator: boolean;
  /** The job whose failed tasks it runs again: refused while another one that does is open. */
  retryOf?: number;
  /** Object key of the specification, written before. */
  specRef: string;
  /** Shown in lists, and searched, before the workflow has written its first view. */
  command: string;
  user: string;
  instances: number;
  /** Of all of them. */
  vcpus: number;
  /** Of each instance that is not its head. */
  workerVcpus: number;
  /** At most; above the workspace's threshold it waits for an approval. */
  estimate: CostEstimate;
  /** It waits for these jobs, and for room in the quota, instead of being refused. Jobs only. */
  queue?: QueueRequest;
  /** The queue of the host whose processes are its instances; absent or null on a cloud. */
  hostQueue?: string | null;
}

/** What a request was admitted as, or found. */
export type Admitted = Found;

/** A row whose workflow is to be started. */
export interface Startable extends StartSubject {
  admittedAtMs: number;
}

export interface EndedWait {
  workspace: string;
  admissionId: string;
  isRetriable: boolean;
}

export interface AdmissionStore {
  /** Idempotency key, unique open name, quota, number, row, in one transaction. */
  admit(item: AdmitItem, nowMs: number): Promise<Answer<Admitted>>;
  /**
   * Admitted rows without a claim, by priority and then oldest first; the claim ends by itself at `claimUntilMs`. Of one host, only as many as leave at
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
   * Admits the jobs and clusters whose wait has ended, that no used-up budget meets, and that fit into the quota, by priority
   * (domain/admission/queue.ts), and ends those that can never start, or were
   * approved by no admin in time. Answers the ended ones. What is sealed for them is needed no more, except of one that
   * its user may want to run again: it could not start because of another job.
   */
  admitWaiting(nowMs: number): Promise<{ admitted: number; ended: EndedWait[] }>;
  /** Ends a job or cluster that waits. False when it does not wait, or not any more. */
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
