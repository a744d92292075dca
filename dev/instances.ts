// The local instances of a home, seen from the stack: adopted when it starts, ended when it stops in order.
import { rm, stat } from 'node:fs/promises';

import type { Client } from '@temporalio/client';

import { launchTokenTtlMs } from '../domain/limits.ts';
import { createLocalProvider } from '../providers/local/provider.ts';
import { exists, instancePaths, listInstanceIds, readOwner, readProcess } from '../providers/local/files.ts';
import { isSameProcess } from '../providers/local/processes.ts';
import type { Owner } from '../providers/provider.ts';
import { clusterMessages, clusterWorkflowId } from '../contracts/cluster.ts';
import type { SuspectSignal } from '../contracts/cluster.ts';

/** Agents of an earlier stack that still run: they find the next stack by its kept port and go on. */
export async function countRunning(home: string): Promise<number> {
  const lives = await Promise.all((await listInstanceIds(home)).map((id) => lifeOf(home, id)));
  return lives.filter((life) => life === 'running').length;
}

/**
 * Instances of open clusters that did not outlive the earlier stack. Their clusters are told to look at once, so that
 * the tasks go elsewhere without waiting for a lease to run out. Only a hint: without it the leases find out.
 */
export async function reportDead(client: Client, home: string, open: Set<number>): Promise<void> {
  for (const [cluster, ids] of await listDead(home, open)) {
    const signal: SuspectSignal = { instances: ids.map((instance) => ({ instance, heardAtMs: 0 })) };
    const handle = client.workflow.getHandle(clusterWorkflowId(cluster));
    await handle.signal(clusterMessages.suspect, signal).catch(() => undefined);
  }
}

/** By cluster, of those that are open. */
export async function listDead(home: string, open: Set<number>): Promise<Map<number, string[]>> {
  const dead = new Map<number, string[]>();
  for (const id of await listInstanceIds(home)) {
    const owner = await readOwner(instancePaths(home, id));
    if (owner === null || !open.has(owner.cluster) || (await lifeOf(home, id)) !== 'ended') continue;
    dead.set(owner.cluster, [...(dead.get(owner.cluster) ?? []), id]);
  }
  return dead;
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

/** Ends every other instance without a tombstone, with all that it started; how many there were. */
export async function endInstances(
  home: string,
  { withinMs, except }: { withinMs: number; except: ReadonlySet<string> },
): Promise<number> {
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

type Life = 'not begun' | 'running' | 'ended';

/** The worker of this very stack may be launching: an instance whose agent has not taken its name yet is not a dead one. */
async function lifeOf(home: string, id: string): Promise<Life> {
  const paths = instancePaths(home, id);
  if (await exists(paths.tombstone)) return 'ended';
  const agent = await readProcess(paths.claim);
  if (agent === null) return 'not begun';
  return (await isSameProcess(agent)) ? 'running' : 'ended';
}
