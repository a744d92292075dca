// The state of one workspace: who may act, what is running, which numbers and names are taken.
import type { Problem } from '../errors.ts';

export interface WorkspaceLimits {
  running: number;
  instances: number;
  vcpus: number;
}

export interface WorkspaceToken {
  id: string;
  /** SHA-256 of the secret part, hex. The secret itself is shown once and never stored. */
  sha256: string;
  user: string;
  scopes: ('read' | 'write' | 'admin')[];
  createdAtMs: number;
  expiresAtMs: number | null;
  revokedAtMs: number | null;
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
  vcpus: number;
  reservedAtMs: number;
  state: 'reserved' | 'starting' | 'running';
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
}

export interface WorkspaceState {
  v: 1;
  slug: string;
  deploymentId: string;
  createdAtMs: number;
  tokens: WorkspaceToken[];
  limits: WorkspaceLimits;
  block: NumberBlock;
  spare: NumberBlock | null;
  /** Number of block leases asked so far: the operation id of the next one. */
  leaseSeq: number;
  holders: Holder[];
  /** Idempotency key -> what it made. */
  keys: Record<string, IdempotencyRecord>;
  admitted: number;
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
  specRef: string;
  user: string;
  instances: number;
  vcpus: number;
}

export type AdmitAnswer =
  | { ok: { number: number; name: string; admissionId: string; existing: boolean } }
  | { error: Problem };
