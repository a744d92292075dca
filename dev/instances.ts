// The local instances of a home: adopted when the stack starts, terminated when it stops.
import { rm, stat } from 'node:fs/promises';

import type { Client } from '@temporalio/client';

import { launchTokenTtlMs } from '../domain/tokens/limits.ts';
import { createLocalProvider } from '../providers/local/provider.ts';
import { exists, instancePaths, listInstanceIds, readOwner, readProcess } from '../providers/local/files.ts';
import { isSameProcess } from '../providers/local/processes.ts';
import type { Owner } from '../providers/provider.ts';
import { clusterMessages, clusterWorkflowId } from '../contracts/cluster.ts';
import type { SuspectSignal } from '../contracts/cluster.ts';

/** Running agents of an earlier stack: they find the next stack by its kept port and continue. */
export async function countRunning(home: string): Promise<number> {
  const found = await Promise.all((await listInstanceIds(home)).map((id) => livenessOf(home, id)));
  return found.filter((liveness) => liveness === 'running').length;
}

/**
 * Reports instances of open clusters that died with the earlier stack: their clusters check them at once, and their tasks run
 * elsewhere before a lease expires. Only a hint: without it the leases expire.
 */
export async function reportDead(client: Client, home: string, open: Set<number>): Promise<void> {
  for (const [cluster, ids] of await listDead(home, open)) {
    const signal: SuspectSignal = { instances: ids.map((instance) => ({ instance, heardAtMs: 0 })) };
    const handle = client.workflow.getHandle(clusterWorkflowId(cluster));
    await handle.signal(clusterMessages.suspect, signal).catch(() => undefined);
  }
}

/** Dead instances of open clusters, by cluster. */
export async function listDead(home: string, open: Set<number>): Promise<Map<number, string[]>> {
  const dead = new Map<number, string[]>();
  for (const id of await listInstanceIds(home)) {
    const owner = await readOwner(instancePaths(home, id));
    if (owner === null || !open.has(owner.cluster) || (await livenessOf(home, id)) !== 'ended') continue;
    dead.set(owner.cluster, [...(dead.get(owner.cluster) ?? []), id]);
  }
  return dead;
}

/** Removes the directories of instances whose launch tokens have long expired: no launch will use them again. */
export async function pruneInstances(home: string): Promise<void> {
  for (const id of await listInstanceIds(home)) {
    const { root, tombstone } = instancePaths(home, id);
    const tombstoned = await stat(tombstone).catch(() => null);
    if (tombstoned === null || Date.now() - tombstoned.mtimeMs < 2 * launchTokenTtlMs) continue;
    await rm(root, { recursive: true, force: true });
  }
}

/** Ends every other instance without a tombstone, with everything it started; returns their number. */
export async function endInstances(
  home: string,
  { withinMs, except }: { withinMs: number; except: ReadonlySet<string> },
): Promise<number> {
  const provider = createLocalProvider({
    home,
    // This provider launches nothing.
    agentBundle: '',
    nodePath: process.execPath,
    maxInstances: 0,
    cores: 1,
  });
  const owners = new Map<string, { owner: Owner; ids: string[] }>();
  for (const id of await listInstanceIds(home)) {
    const paths = instancePaths(home, id);
    const owner = await readOwner(paths);
    if (except.has(id) || owner === null || (await exists(paths.tombstone))) continue;
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

type Liveness = 'not started' | 'running' | 'ended';

/** The stack's Temporal worker may be launching: an instance whose agent has not claimed its name yet is not dead. */
async function livenessOf(home: string, id: string): Promise<Liveness> {
  const paths = instancePaths(home, id);
  if (await exists(paths.tombstone)) return 'ended';
  const agent = await readProcess(paths.claim);
  if (agent === null) return 'not started';
  return (await isSameProcess(agent)) ? 'running' : 'ended';
}
