// A workflow in place of the real reconciliation, for the command alone: its report contains its input.
import type { ReconcileInput, ReconcileReport } from '../../contracts/reconcile.ts';

export const reconcile = async ({ deploymentId, graceMs, dryRun }: ReconcileInput): Promise<ReconcileReport> => ({
  refusal: deploymentId === 'dep_refused' ? 'the database belongs to another deployment' : null,
  dryRun,
  compared: 4,
  finalized: ['job/1'],
  adopted: [],
  refreshed: [],
  waiting: [],
  unknown: dryRun ? [] : [`job/2, with a grace period of ${graceMs} ms`],
});
