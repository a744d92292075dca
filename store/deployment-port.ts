// The store's port for the database's deployment.

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
  } | null>;
  /** Writes the id of the first object store; returns the database's id, which may differ. */
  claimObjectStore(id: string): Promise<string>;
  /** Writes the first Temporal namespace; returns the database's namespace, which may differ. */
  claimTemporalNamespace(namespace: string): Promise<string>;
  /** Never assigns numbers up to this one again, after an older database was restored. */
  reserveNumbersTo(number: number): Promise<void>;
}
