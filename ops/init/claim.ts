// The deployment of a Temporal namespace. The schedule `reconcile` has the same id for every deployment, and its memo names its
// creator: Temporal creates a schedule id only once, so the first deployment owns the namespace, and every other one is refused
// before it changes anything.
import type { Client } from '@temporalio/client';

import {
  type NamespaceMemo,
  type ReconcileInput,
  reconcileScheduleId,
  reconcileType,
} from '../../contracts/reconcile.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { namespaceOwner } from '../../platform/namespace-claim.ts';
import type { Host } from '../host.ts';
import { createSchedule, type Schedule, updateSchedule } from './schedule.ts';

export interface ReconcileTiming {
  everyMs: number;
  graceMs: number;
}

/** The claiming installation, and its home for error messages. */
export interface Claimant {
  host: Host;
  home: string;
}

/**
 * Claims the namespace, or updates the schedule of an earlier claim. Runs before any Temporal worker: a foreign deployment must
 * never be served. Returns its changes, as sentences.
 *
 * @throws RopewalkError CONFLICT when the namespace belongs to another deployment; nothing was changed.
 */
export async function claimNamespace(client: Client, claimant: Claimant, timing: ReconcileTiming): Promise<string[]> {
  const { deploymentId } = claimant.host;
  const input: ReconcileInput = { deploymentId, graceMs: timing.graceMs, dryRun: false };
  const memo: NamespaceMemo = { deploymentId };
  const schedule: Schedule = {
    scheduleId: reconcileScheduleId,
    everyMs: timing.everyMs,
    workflowType: reconcileType,
    input,
    memo: { ...memo },
    summary: 'Compares the database with workflows',
    details: `Marks this namespace as that of deployment ${deploymentId}: deleting this schedule gives the namespace up.`,
  };
  if (await createSchedule(client, schedule)) {
    return [
      `claimed the namespace for deployment ${deploymentId}: schedule reconcile, every ${timing.everyMs / 1_000} s`,
    ];
  }
  await refuseForeign(client, claimant);
  return updateSchedule(client, schedule);
}

/**
 * Read-only: called before any change in a namespace that may belong to another deployment.
 *
 * @throws RopewalkError CONFLICT when it does.
 */
export async function refuseForeign(client: Client, { host, home }: Claimant): Promise<void> {
  const owner = await namespaceOwner(client);
  if (owner !== null && owner !== host.deploymentId) throw foreignNamespace(owner, host.deploymentId, home);
}

const foreignNamespace = (found: string, own: string, home: string): RopewalkError =>
  new RopewalkError({
    code: 'CONFLICT',
    message: `this Temporal namespace belongs to deployment ${found}, and ${home} to deployment ${own}; nothing was changed`,
    hint: `Use the home of ${found}, or another namespace (TEMPORAL_NAMESPACE).`,
  });
