// The reconciliation of rows with workflows. A Temporal Schedule runs it; `ropewalk reconcile` starts one at once. The schedule
// also marks the namespace: its id is the same for every deployment, and its memo names the one that owns the namespace.

export const reconcileType = 'reconcile';
export const reconcileScheduleId = 'reconcile';

/** Started by an operator: at most one at a time. */
export const reconcileNowId = 'reconcile/now';
export const reconcileDryRunId = 'reconcile/dry-run';

/** In the memo of the schedule. */
export interface NamespaceMemo {
  deploymentId: string;
}

export interface ReconcileInput {
  deploymentId: string;
  /** How long a workflow must have been missing before its row is finalized. */
  graceMs: number;
  dryRun: boolean;
}

export interface ReconcileReport {
  /** Why nothing was compared; null when all was well. */
  refusal: string | null;
  dryRun: boolean;
  /** Open rows that were compared. */
  compared: number;
  /** Rows whose workflow has ended or is missing: finalized now, or, on a dry run, to be finalized. */
  finalized: string[];
  /** Workflows that had no row. */
  adopted: string[];
  /** Rows that were older than their workflow, as after the restore of an older database. */
  refreshed: string[];
  /** Missing for less than the grace period, and what could not be asked. */
  waiting: string[];
  unknown: string[];
}
