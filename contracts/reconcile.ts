// The reconciliation of rows with workflows. A Temporal Schedule runs it; `ropewalk reconcile` starts a run at once. The schedule also tags the
// namespace: its id is the same for every deployment, and its memo names the deployment that owns the namespace.

export const reconcileType = 'reconcile';
export const reconcileScheduleId = 'reconcile';

/** Started by an operator; at most one runs at a time. */
export const reconcileNowId = 'reconcile/now';
export const reconcileDryRunId = 'reconcile/dry-run';

/** The memo of the schedule. */
export interface NamespaceMemo {
  deploymentId: string;
}

export interface ReconcileInput {
  deploymentId: string;
  /** How long a workflow must be missing before its row is finalized. */
  graceMs: number;
  dryRun: boolean;
}

export interface ReconcileReport {
  /** Why nothing was compared; null after a comparison. */
  refusal: string | null;
  dryRun: boolean;
  /** Open rows that were compared. */
  compared: number;
  /** Rows whose workflow has ended or is missing: finalized now, or, on a dry run, still to be finalized. */
  finalized: string[];
  /** Workflows that had no row. */
  adopted: string[];
  /** Rows that were older than their workflow, as after a restore of an older database. */
  refreshed: string[];
  /** `waiting`: missing for less than the grace period. `unknown`: could not be checked. */
  waiting: string[];
  unknown: string[];
}
