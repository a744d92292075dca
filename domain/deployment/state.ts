// The state of the one deployment: its id, its workspaces, and the blocks of numbers they lease.

export interface DeploymentState {
  v: 1;
  deploymentId: string;
  createdAtMs: number;
  nextNumber: number;
  workspaces: Record<string, DeploymentWorkspace>;
}

export interface DeploymentWorkspace {
  createdAtMs: number;
  /** The block its workflow starts with. */
  firstBlock: { from: number; to: number };
  /** The newest lease and its operation id: a repeated request gets the same block. */
  lastLease: { opId: string; from: number; to: number } | null;
  /** Its workflow has been started. */
  started: boolean;
}
