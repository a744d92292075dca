// The port to admissions, to the queue, and to the starts of admitted rows.
import type { StartSubject } from '../contracts/start.ts';
import type { Found } from '../domain/admission/admit.ts';
import type { CostEstimate } from '../domain/admission/approval.ts';
import type { QueueRequest } from '../domain/admission/queue.ts';
import type { Answer } from './answer.ts';

export type RecordKind = 'job' | 'cluster';

export interface AdmitItem {
  workspace: string;
  /** New for each request, kept by its retries; the started workflow's memo contains it. */
  admissionId: string;
  /** The caller's key, scoped by user; the admission id when none was sent. */
  idempotencyKey: string;
  /** HMAC of the request body: the same key with another body is refused. */
  bodyHash: string;
  kind: RecordKind;
  /** Empty: derived from its number, for example `job-12`. */
  name: string;
  /** When an open object of the same kind has the name: return it instead of NAME_TAKEN. */
  getOrCreate: boolean;
  /** The number of an ending object with this name, as the caller has seen it: the new object takes its name. */
  instead?: number;
  privateToCreator: boolean;
  /** The job whose failed tasks it runs again; refused while another such job is open. */
  retryOf?: number;
  /** Object key of the specification, written before. */
  specRef: string;
  /** Listed and searched before the workflow has written its first view. */
  command: string;
  user: string;
  instances: number;
  /** Sum of all instances. */
  vcpus: number;
  /** Of each instance except the head. */
  workerVcpus: number;
  /** The maximum cost; above the workspace's threshold it waits for an approval. */
  estimate: CostEstimate;
  /** It waits for these jobs, and for room in the quota, instead of being refused. Jobs only. */
  queue?: QueueRequest;
  /** The queue of the host that runs its instances as processes; absent or null on a cloud. */
  hostQueue?: string | null;
}

/** The admitted or existing object. */
export type Admitted = Found;

/** A row whose workflow must be started. */
export interface Startable extends StartSubject {
  admittedAtMs: number;
}

export interface EndedWait {
  workspace: string;
  admissionId: string;
  isRetriable: boolean;
}

export interface AdmissionStore {
  /** Checks idempotency key, open name and quota, and assigns number and row, in one transaction. */
  admit(item: AdmitItem, nowMs: number): Promise<Answer<Admitted>>;
  /**
   * Admitted rows without a claim, by priority and then oldest first; the claim expires at `claimUntilMs`. Per host, only as
   * many as keep the claimed or open ones within `maxOpenOnHost`. Default: all.
   */
  claim(query: {
    limit: number;
    nowMs: number;
    claimUntilMs: number;
    number?: number;
    maxOpenOnHost?: number;
  }): Promise<Startable[]>;
  /** Records that the workflow has started; idempotent. */
  started(kind: RecordKind, number: number): Promise<void>;
  /**
   * Admits the waiting jobs and clusters that are ready, within budget and quota, by priority (domain/admission/queue.ts), and
   * ends those that can never start, or whose approval expired. Returns the ended ones. Their sealed objects are no longer
   * needed, except those of a job that failed to start because of another job: its user may run it again.
   */
  admitWaiting(nowMs: number): Promise<{ admitted: number; ended: EndedWait[] }>;
  /** Ends a waiting job or cluster. False when it is not waiting. */
  cancelWaiting(number: number, reason: { code: string; text: string }, nowMs: number): Promise<boolean>;
  /**
   * Ends an admitted row whose start no process has ever claimed, and releases name and quota. False for any other row: its
   * start may be in progress or done.
   */
  endUnclaimed(item: {
    kind: RecordKind;
    number: number;
    status: 'cancelled' | 'stopped';
    reason: { code: string; text: string };
    nowMs: number;
  }): Promise<boolean>;
  /** Ends the row whose workflow can never start, with this reason, and releases name and quota. */
  refused(kind: RecordKind, number: number, reason: { code: string; text: string }, nowMs: number): Promise<void>;
}
