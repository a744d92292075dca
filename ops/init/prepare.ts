// Prepares a Temporal namespace completely for Ropewalk's API and Temporal workers. `ropewalk init` and every start of
// `ropewalk dev` run this; it is safe to repeat.
import type { Client, Connection } from '@temporalio/client';

import { sweepEveryMs, sweepGraceMs } from '../../domain/sweep/limits.ts';
import { reconcileEveryMs, reconcileGraceMs } from '../../domain/reconcile/limits.ts';
import { stuckCheckEveryMs } from '../../domain/stuck/limits.ts';
import { readNamespace, requireSameNamespace } from '../../platform/namespace-claim.ts';
import { requireNamespace } from '../../platform/temporal-namespace.ts';
import type { Configured } from '../../providers/manifests.ts';
import type { DeploymentStore } from '../../store/deployment-port.ts';
import { type Claimant, claimNamespace, type ReconcileTiming, refuseForeign } from './claim.ts';
import { type NamespaceSettings, prepareNamespace } from './namespace.ts';
import { refuseRunning } from './running-instances.ts';
import {
  ensureStuckWorkflowsSchedule,
  ensureSweepSchedule,
  type StuckWorkflowsSettings,
  type SweepTiming,
} from './schedule.ts';

export interface PrepareSettings extends NamespaceSettings {
  sweep: SweepTiming;
  reconcile: ReconcileTiming;
  stuckWorkflows: StuckWorkflowsSettings;
}

/** The same values as in temporal-dev.yml; a test compares them. */
export const usualSettings: PrepareSettings = {
  retentionDays: 30,
  searchAttributes: ['RopewalkWorkspace', 'RopewalkUser', 'RopewalkStatus'],
  sweep: { everyMs: sweepEveryMs, graceMs: sweepGraceMs },
  reconcile: { everyMs: reconcileEveryMs, graceMs: reconcileGraceMs },
  stuckWorkflows: { everyMs: stuckCheckEveryMs, autoReset: true },
};

export interface Preparation extends Claimant {
  /** The row of the deployment in the database. */
  deployment: Pick<DeploymentStore, 'read' | 'claimTemporalNamespace'>;
  connection: Connection;
  client: Client;
  namespace: string;
  /** Providers whose places are swept. */
  providers: readonly Configured[];
  settings: PrepareSettings;
  /** The operator has given up the earlier namespace and its instances. */
  replacesLost: boolean;
  /** For what could not be checked. */
  warn: (line: string) => void;
}

/** Returns its changes, as sentences; empty when everything existed. */
export async function prepareTemporal(preparation: Preparation): Promise<string[]> {
  const { connection, client, namespace, host, deployment, providers, settings, replacesLost, warn } = preparation;
  const { deploymentId } = host;
  await refuseForeign(client, preparation);
  const row = await deployment.read();
  requireNamespace(namespace, { deploymentId, claimed: row?.temporalNamespace ?? null });
  const temporalNamespaceId = row?.temporalNamespaceId ?? null;
  const found = await readNamespace(client);
  requireSameNamespace(found, { deploymentId, temporalNamespaceId });
  if (found.owner === null && !replacesLost) await refuseRunning(providers, deploymentId, warn);
  const changes = await prepareNamespace(connection, namespace, settings);
  // After the namespace exists: a wrong name that the server refuses must not be kept. Before its schedules: nothing may run
  // in a second namespace of this deployment.
  const prepared = await readNamespace(client);
  const claimed = await deployment.claimTemporalNamespace(prepared);
  requireNamespace(namespace, { deploymentId, claimed: claimed.name });
  requireSameNamespace(prepared, { deploymentId, temporalNamespaceId: claimed.id });
  changes.push(...(await claimNamespace(client, preparation, settings.reconcile)));
  for (const { manifest, provider } of providers) {
    for (const { queue: providerQueue } of provider.places) {
      const target = { deploymentId, provider: manifest.name, providerQueue };
      changes.push(...(await ensureSweepSchedule(client, target, settings.sweep)));
    }
  }
  changes.push(...(await ensureStuckWorkflowsSchedule(client, deploymentId, settings.stuckWorkflows)));
  return changes;
}
