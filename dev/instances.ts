// The local instances of a home, seen from the stack: adopted when it starts, ended when it stops in order.
import { createLocalProvider } from '../providers/local/provider.ts';
import { exists, instancePaths, listInstanceIds, readOwner, readProcess } from '../providers/local/files.ts';
import { isSameProcess } from '../providers/local/processes.ts';
import type { Owner } from '../providers/provider.ts';

/** Agents that outlived an earlier stack: they find this one by its kept port and go on. */
export async function countAdopted(home: string): Promise<number> {
  const alive = await Promise.all((await listInstanceIds(home)).map((id) => isRunning(home, id)));
  return alive.filter(Boolean).length;
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
