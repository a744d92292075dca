// Ropewalk's instances as Compute Engine shows them, listed by label over all zones. A deleted instance is not listed; its
// operations record that it existed and how it ended. A stopped instance is deleted: it does no more work, and its disk costs
// money.
import type { protos } from '@google-cloud/compute';

import type { ObservedInstance, ObservedState, Owner } from '../provider.ts';
import { again } from './again.ts';
import type { GcpClients } from './clients.ts';
import { requestDelete } from './delete-instance.ts';
import { deploymentLabel, isInRegion, isOwnName, labelFilter, labelsOf, lastPart, ownerIn } from './names.ts';
import { historyOf, isOrder, whyEnded } from './operations.ts';

type Instance = protos.google.cloud.compute.v1.IInstance;

/** An unknown state counts as starting. */
const states: Readonly<Record<string, ObservedState>> = {
  PROVISIONING: 'starting',
  STAGING: 'starting',
  RUNNING: 'running',
  REPAIRING: 'running',
  PENDING_STOP: 'stopping',
  STOPPING: 'stopping',
  SUSPENDING: 'stopping',
  SUSPENDED: 'stopping',
  TERMINATED: 'stopping',
};

const isOff = ({ status }: Instance): boolean => status === 'TERMINATED' || status === 'SUSPENDED';

/** Every instance of this owner that is on, and those of `ids` that have ended. */
export async function describeOwned(clients: GcpClients, owner: Owner, ids: string[]): Promise<ObservedInstance[]> {
  const listed = await instancesBy(clients, labelFilter(labelsOf(owner)));
  const off = listed.filter(isOff);
  for (const { zone, name } of off) await requestDelete(clients, lastPart(zone), name ?? '');
  const on = listed.filter((instance) => !isOff(instance)).flatMap(observed);
  const shown = new Set(on.map(({ id }) => id));
  const missing = ids.filter((id) => !shown.has(id) && isOwnName(owner, id));
  const ended = [...(await historyOf(clients, owner, missing))].flatMap(([id, { endedBy, insertedAtMs }]) =>
    endedBy === null
      ? []
      : [
          {
            id,
            state: 'gone' as const,
            owner,
            launchedAtMs: insertedAtMs,
            whyEnded: whyEnded(endedBy),
            ...(isOrder(endedBy) ? { wasOrdered: true } : {}),
          },
        ],
  );
  return [...on, ...ended];
}

/** Every existing instance of this deployment; one that is off counts as stopping until it is deleted. */
export async function listDeployment(clients: GcpClients, deploymentId: string): Promise<ObservedInstance[]> {
  return (await instancesBy(clients, labelFilter(deploymentLabel(deploymentId)))).flatMap(observed);
}

export interface FoundInstance {
  name: string;
  zone: string;
  machineType: string;
}

/** Those of `names` that exist, on or off, and have this owner. */
export async function findByNames(
  clients: GcpClients,
  owner: Owner,
  names: readonly string[],
): Promise<FoundInstance[]> {
  const wanted = new Set(names);
  const found = await instancesBy(clients, labelFilter(labelsOf(owner)));
  return found
    .filter(({ name }) => wanted.has(name ?? ''))
    .map(({ name, zone, machineType }) => ({
      name: name ?? '',
      zone: lastPart(zone),
      machineType: lastPart(machineType),
    }));
}

/**
 * Labels alone do not identify Ropewalk's instances: the console copies them to an instance that a person creates as "similar",
 * which is neither counted nor deleted. Lists only the clients' region; other regions have their own providers. An unreachable
 * zone fails the whole list, because a partial list would make its instances look deleted.
 */
const instancesBy = (clients: GcpClients, filter: string): Promise<Instance[]> =>
  again(() => instancesOnce(clients, filter));

async function instancesOnce(clients: GcpClients, filter: string): Promise<Instance[]> {
  const found: Instance[] = [];
  const { project, region } = clients;
  for await (const [, { instances }] of clients.instances.aggregatedListAsync(
    { project, filter, maxResults: 500 },
    { autoPaginate: false },
  ))
    found.push(...(instances ?? []).filter((instance) => isInRegion(instance.zone, region) && isOwn(instance)));
  return found;
}

function isOwn({ name, labels }: Instance): boolean {
  const owner = ownerIn(labels);
  return owner !== null && isOwnName(owner, name ?? '');
}

/** Empty for an instance without Ropewalk's labels. */
function observed({ name, labels, status, creationTimestamp }: Instance): ObservedInstance[] {
  const owner = ownerIn(labels);
  if (name === null || name === undefined || owner === null) return [];
  const state = states[status ?? ''] ?? 'starting';
  const why = state === 'stopping' ? { whyEnded: `Compute Engine shows it as ${status}` } : {};
  return [{ id: name, state, owner, launchedAtMs: Date.parse(creationTimestamp ?? '') || 0, ...why }];
}
