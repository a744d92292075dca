// The store's port for the database's deployment.
import type { KeyDecision, KnownKeys, OwnKeys } from '../domain/known-keys.ts';

export interface TemporalNamespace {
  name: string;
  id: string | null;
}

/** One row: the deployment's id, and the next number. */
export interface DeploymentStore {
  /** Writes the id into an empty database; returns the database's id, which may differ. */
  claim(deploymentId: string, nowMs: number): Promise<{ deploymentId: string; isNew: boolean }>;
  read(): Promise<{
    deploymentId: string;
    createdAtMs: number;
    nextNumber: number;
    objectStoreId: string | null;
    temporalNamespace: string | null;
    /** The id that the Temporal server gave it; null when it gave none. */
    temporalNamespaceId: string | null;
    /** Null until a process has used keys with this database. */
    keys: KnownKeys | null;
  } | null>;
  /** Writes the id of the first object store; returns the database's id, which may differ. */
  claimObjectStore(id: string): Promise<string>;
  /** Writes the first Temporal namespace, with the server's id; returns the database's namespace, which may differ. */
  claimTemporalNamespace(namespace: TemporalNamespace): Promise<TemporalNamespace>;
  /**
   * Removes the Temporal namespace, if it still is this one: its workflows are lost. Open jobs and clusters then count as missing since long ago, so the
   * next reconciliation ends those whose workflow is missing in the next namespace; schedules of jobs are created there again.
   */
  forgetTemporalNamespace(namespace: TemporalNamespace): Promise<boolean>;
  /** Compares a process's keys with the recorded ones, and records new ones, in one transaction. `marked`: the record of the object store. */
  claimKeys(own: OwnKeys, marked?: KnownKeys | null): Promise<KeyDecision>;
  /** Never assigns numbers up to this one again, after an older database was restored. */
  reserveNumbersTo(number: number): Promise<void>;
}
