// The part of the store's port that says whose database this is.

/** One row: whose database this is, and the next number. */
export interface DeploymentStore {
  /** Writes the id into an empty database; answers the id that the database has, which may be another. */
  claim(deploymentId: string, nowMs: number): Promise<{ deploymentId: string; isNew: boolean }>;
  read(): Promise<{
    deploymentId: string;
    createdAtMs: number;
    nextNumber: number;
    objectStoreId: string | null;
  } | null>;
  /** Writes the id of the first object store that is used; answers the id that the database has, which may be another. */
  claimObjectStore(id: string): Promise<string>;
  /** Numbers up to this one are never given out again: after an older database was restored. */
  reserveNumbersTo(number: number): Promise<void>;
}
