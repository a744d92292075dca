// The state of one workspace: who may act, what is running, which numbers and names are taken.
import type { Problem } from '../errors.ts';

export interface WorkspaceLimits {
  running: number;
  instances: number;
  vcpus: number;
}

export type Scope = 'read' | 'write' | 'admin' | 'operator';
export type Role = 'admin' | 'member' | 'read-only';

/** Who asks, and with which token; null: the operator, from beside the API. */
export type By = { user: string; tokenId: string } | null;

export interface WorkspaceUser {
  name: string;
  role: Role;
  /** The user's own limits, where they differ from `perUser`. */
  limits: Partial<WorkspaceLimits>;
  createdAtMs: number;
}

export interface WorkspaceToken {
  id: string;
  /** SHA-256 of the secret part, hex. The secret itself is shown once and never stored. */
  sha256: string;
  user: string;
  scopes: Scope[];
  createdAtMs: number;
  expiresAtMs: number | null;
  revokedAtMs: number | null;
  /** What it is for. */
  name?: string;
  /** Null: the operator, from beside the API. */
  createdBy?: string | null;
}

export type HolderKind = 'job' | 'cluster';

/** A reservation and, once its workflow runs, the holder of a number, a name and a share of the limits. */
export interface Holder {
  number: number;
  kind: HolderKind;
  name: string;
  admissionId: string;
  /** Object key of the specification, written before admission. */
  specRef: string;
  user: string;
  instances: number;
  /** Of all of them. */
  vcpus: number;
  /** Of each instance that is not its head; absent in earlier ones, of which all instances count the same. */
  workerVcpus?: number;
  reservedAtMs: number;
  state: 'reserved' | 'starting' | 'running';
  /** Its output is its creator's alone. Of clusters their specification says so. */
  privateToCreator?: true;
  /** Which of its workflows were seen to be over though it was not released, and at which look first. */
  seen?: { what: 'both' | 'job' | 'cluster'; atMs: number };
  /** It was seen to be ending while another one asked for its name: the name is no longer its own. */
  nameless?: true;
  /** Set once it was asked to grow or shrink: `instances` is the greater of the two held numbers. */
  share?: { scale: SharePart; adapt: SharePart };
  /** Instances that it may still have, whatever was asked for last; and the numbers of the requests it knew when it said so. */
  has?: { instances: number; scale: number; adapt: number };
}

/** One way in which a cluster's size is asked for: a number of instances, or the most that adaptive scaling may take. */
export interface SharePart {
  /** Number of the request that counts: the newest. */
  seq: number;
  wanted: number;
  /** Never less than what the cluster may have been told: it falls to `wanted` when the newest request has arrived. */
  held: number;
}

/** What was changed about people and limits, and by whom. */
export interface WorkspaceEvent {
  atMs: number;
  by: string | null;
  code: string;
  text: string;
}

export interface NumberBlock {
  next: number;
  end: number;
}

export interface IdempotencyRecord {
  number: number;
  admissionId: string;
  bodyHash: string;
  atMs: number;
  /** It was found by its name. */
  named?: true;
}

export interface WorkspaceState {
  v: 1;
  slug: string;
  deploymentId: string;
  createdAtMs: number;
  tokens: WorkspaceToken[];
  users: WorkspaceUser[];
  limits: WorkspaceLimits;
  /** For each user who has no limits of their own. */
  perUser: Partial<WorkspaceLimits>;
  /** Newest last, a bounded number. */
  events: WorkspaceEvent[];
  block: NumberBlock;
  spare: NumberBlock | null;
  /** Number of block leases asked so far: the operation id of the next one. */
  leaseSeq: number;
  holders: Holder[];
  /** Idempotency key -> what it made. */
  keys: Record<string, IdempotencyRecord>;
  /** How many these are: counting thousands for each admission is slow. Absent in states of earlier versions. */
  keyCount?: number;
  admitted: number;
  /** The last look at the workflows of its holders; absent in states of earlier versions. */
  lookedAtMs?: number;
  /** The next look shall be now. */
  lookWanted?: boolean;
}

export interface AdmitItem {
  /** New for each request, kept by its retries; the started workflow's memo holds it. */
  admissionId: string;
  /** What the caller sent as Idempotency-Key, scoped by user; the admission id when none was sent. */
  idempotencyKey: string;
  /** HMAC of the request body: the same key with another body is refused. */
  bodyHash: string;
  kind: HolderKind;
  /** Empty: named after its number, e.g. `job-12`. */
  name: string;
  /** When the name is taken: answer the running one instead of NAME_TAKEN. */
  getOrCreate: boolean;
  /** A job whose output is its creator's alone. */
  privateToCreator?: true;
  /** A holder of this name that is ending, as the caller has seen: its name is free for this one. */
  instead?: number;
  specRef: string;
  user: string;
  instances: number;
  vcpus: number;
  /** Of each instance that is not the head, for when it grows or shrinks; absent from earlier APIs. */
  workerVcpus?: number;
}

export type AdmitAnswer =
  | {
      ok: {
        number: number;
        name: string;
        admissionId: string;
        existing: boolean;
        /** Found by its name, not by the key of an earlier request. */
        named?: true;
      };
    }
  | { error: Problem };
