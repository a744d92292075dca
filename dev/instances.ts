// The local instances of a home, seen from the stack: adopted when it starts, ended when it stops in order.
import { rm, stat } from 'node:fs/promises';

import type { Client } from '@temporalio/client';

import { launchTokenTtlMs } from '../domain/limits.ts';
import { createLocalProvider } from '../providers/local/provider.ts';
import { exists, instancePaths, listInstanceIds, readOwner, readProcess } from '../providers/local/files.ts';
import { isSameProcess } from '../providers/local/processes.ts';
import type { Owner } from '../providers/provider.ts';
import { clusterMessages, clusterWorkflowId } from '../workflows/cluster/messages.ts';
import type { SuspectSignal } from '../workflows/cluster/messages.ts';

/** Agents that outlived an earlier stack: they find this one by its kept port and go on. */
export async function countAdopted(home: string): Promise<number> {
  const alive = await Promise.all((await listInstanceIds(home)).map((id) => isRunning(home, id)));
  return alive.filter(Boolean).length;
}

/**
 * Instances of open clusters that did not outlive the earlier stack. Their clusters are told to look at once, so that
 * the tasks go elsewhere without waiting for a lease to run out. Only a hint: without it the leases find out.
 */
export async function reportDead(client: Client, home: string, open: Set<number>): Promise<void> {
  const dead = new Map<number, string[]>();
  for (const id of await listInstanceIds(home)) {
    const owner = await readOwner(instancePaths(home, id));
    if (owner === null || !open.has(owner.cluster) || (await isRunning(home, id))) continue;
    dead.set(owner.cluster, [...(dead.get(owner.cluster) ?? []), id]);
  }
  for (const [cluster, ids] of dead) {
    const signal: SuspectSignal = { instances: ids.map((instance) => ({ instance, heardAtMs: 0 })) };
    const handle = client.workflow.getHandle(clusterWorkflowId(cluster));
    await handle.signal(clusterMessages.suspect, signal).catch(() => undefined);
  }
}

/** Removes what is left of instances that were terminated so long ago that nobody can ask for them again. */
export async function pruneInstances(home: string): Promise<void> {
  for (const id of await listInstanceIds(home)) {
    const { root, tombstone } = instancePaths(home, id);
    const buried = await stat(tombstone).catch(() => null);
    if (buried === null || Date.now() - buried.mtimeMs < 2 * launchTokenTtlMs) continue;
    await rm(root, { recursive: true, force: true });
  }
}

/** Ends every instance without a tombstone, with all that it started; how many there were. */
export async function endInstances(home: string, withinMs: number): Promise<number> {
  const provider = createLocalProvider({
    home,
    // Nothing is launched here.
    agentBundle: '',
    nodePath: process.execPath,
    maxInstances: 0,
    cores: 1,
  });
  const owners = new Map<string, { owner: Owner; ids: string[] }>();
  for (const id of await listInstanceIds(home)) {
    const paths = instancePaths(home, id);
    const owner = await readOwner(paths);
    if (owner === null || (await exists(paths.tombstone))) continue;
    const { deploymentId, workspace, cluster } = owner;
    const key = JSON.stringify([deploymentId, workspace, cluster]);
    const group = owners.get(key) ?? { owner: { deploymentId, workspace, cluster }, ids: [] };
    group.ids.push(id);
    owners.set(key, group);
  }
  const signal = AbortSignal.timeout(withinMs);
  await Promise.all([...owners.values()].map(({ owner, ids }) => provider.terminate(owner, ids, signal)));
  return [...owners.values()].reduce((count, { ids }) => count + ids.length, 0);
}

async function isRunning(home: string, id: string): Promise<boolean> {
  const paths = instancePaths(home, id);
  if (await exists(paths.tombstone)) return false;
  const agent = await readProcess(paths.claim);
  return agent !== null && isSameProcess(agent);
}
