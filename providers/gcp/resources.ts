// Cloud resources of a cluster besides its instances: unattached disks, found by label, and firewall rules. An attached disk is
// deleted with its instance and is not listed.
import { setTimeout as sleep } from 'node:timers/promises';

import { ownerKey } from '../../domain/owner.ts';
import type { CloudResource, Owner } from '../provider.ts';
import { again } from './again.ts';
import { isNotFound } from './api-errors.ts';
import type { GcpClients } from './clients.ts';
import { listDeployment } from './describe.ts';
import { deleteRule, listRules } from './ingress.ts';
import type { Labels } from './names.ts';
import { deploymentLabel, isInRegion, labelFilter, labelsOf, lastPart, ownerIn } from './names.ts';

const pollMs = 500;

export async function listResources(clients: GcpClients, deploymentId: string): Promise<CloudResource[]> {
  const rules = (await listRules(clients)).filter(({ owner }) => owner.deploymentId === deploymentId);
  const used =
    rules.length === 0 ? [] : (await listDeployment(clients, deploymentId)).map(({ owner }) => ownerKey(owner));
  return [
    ...(await unusedDisks(clients, deploymentLabel(deploymentId))),
    ...rules.filter(({ owner }) => !used.includes(ownerKey(owner))),
  ];
}

/** Deletes only resources of this owner. Repeats until Google shows none of them. */
export async function deleteResources(
  clients: GcpClients,
  owner: Owner,
  ids: string[],
  signal: AbortSignal,
): Promise<void> {
  const wanted = new Set(ids);
  for (;;) {
    signal.throwIfAborted();
    const rules = (await listRules(clients)).filter((rule) => ownerKey(rule.owner) === ownerKey(owner));
    const found = [...(await unusedDisks(clients, labelsOf(owner))), ...rules].filter(({ id }) => wanted.has(id));
    if (found.length === 0) return;
    for (const { id, kind } of found) await (kind === 'volume' ? deleteDisk(clients, id) : deleteRule(clients, id));
    await sleep(pollMs, undefined, { signal });
  }
}

/** Ids have the form `zone/name`. */
const unusedDisks = (clients: GcpClients, labels: Labels): Promise<CloudResource[]> =>
  again(() => unusedDisksOnce(clients, labels));

async function unusedDisksOnce(clients: GcpClients, labels: Labels): Promise<CloudResource[]> {
  const found: CloudResource[] = [];
  const query = { project: clients.project, filter: labelFilter(labels), maxResults: 500 };
  for await (const [, { disks }] of clients.disks.aggregatedListAsync(query, { autoPaginate: false })) {
    for (const { name, zone, labels: own, users, creationTimestamp } of disks ?? []) {
      const owner = ownerIn(own);
      if (owner === null || (users ?? []).length > 0 || !isInRegion(zone, clients.region)) continue;
      const createdAtMs = Date.parse(creationTimestamp ?? '') || null;
      found.push({ id: `${lastPart(zone)}/${name}`, kind: 'volume', owner, createdAtMs });
    }
  }
  return found;
}

async function deleteDisk(clients: GcpClients, id: string): Promise<void> {
  const [zone = '', disk = ''] = id.split('/');
  try {
    await again(() => clients.disks.delete({ project: clients.project, zone, disk }));
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
