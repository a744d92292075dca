// Everything that a Temporal namespace needs before Ropewalk's API and Temporal workers use it. `ropewalk init` and every
// start of `ropewalk dev` run this; it is safe to repeat.
import type { Client, Connection } from '@temporalio/client';

import { healEveryMs, sweepEveryMs, sweepGraceMs } from '../../domain/limits.ts';
import type { Place } from '../clouds.ts';
import { type Host, localQueue } from '../host.ts';
import { ensureDeployment, refuseForeign } from './deployment.ts';
import { type NamespaceSettings, prepareNamespace } from './namespace.ts';
import { ensureHealSchedule, ensureSweepSchedule, type SweepTiming } from './schedule.ts';

export interface PrepareSettings extends NamespaceSettings {
  sweep: SweepTiming;
  heal: { everyMs: number };
}

/** The same as temporal-dev.yml says; a test compares them. */
export const usualSettings: PrepareSettings = {
  retentionDays: 30,
  searchAttributes: ['RopewalkWorkspace', 'RopewalkUser', 'RopewalkStatus'],
  sweep: { everyMs: sweepEveryMs, graceMs: sweepGraceMs },
  heal: { everyMs: healEveryMs },
};

export interface Preparation {
  connection: Connection;
  client: Client;
  namespace: string;
  host: Host;
  home: string;
  /** Besides this machine: what is swept too. */
  clouds: readonly Place[];
  settings: PrepareSettings;
}

/** What it changed, in sentences; none when all was there. */
export async function prepareTemporal(preparation: Preparation): Promise<string[]> {
  const { connection, client, namespace, host, home, clouds, settings } = preparation;
  await refuseForeign(client, host, home);
  const changes = await prepareNamespace(connection, namespace, settings);
  const isNew = await ensureDeployment(client, host, home);
  if (isNew) changes.push(`started the workflow of deployment ${host.deploymentId}`);
  const { deploymentId } = host;
  const places = [{ provider: 'local', providerQueue: localQueue(host) }, ...clouds];
  for (const place of places) {
    changes.push(...(await ensureSweepSchedule(client, { deploymentId, ...place }, settings.sweep)));
  }
  changes.push(...(await ensureHealSchedule(client, deploymentId, settings.heal.everyMs)));
  return changes;
}
