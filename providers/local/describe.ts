// Tells which instances live, from the kernel's process table and the files that name their owners. Pure reading.
import type { ObservedInstance, ObservedState, Owner } from '../provider.ts';
import { exists, instancePaths, isInstanceId, listInstanceIds, readOwner, readProcess } from './files.ts';
import { isSame, processesOfInstance, scanProcesses } from './processes.ts';
import type { ProcessEntry } from './processes.ts';

/** Every instance of this owner that is not gone, and of `ids` also those that are; another owner's never. */
export async function describeInstances(home: string, owner: Owner, ids: string[]): Promise<ObservedInstance[]> {
  const asked = new Set(ids);
  const scan = await scanProcesses();
  const observed: ObservedInstance[] = [];
  const known = new Set(await listInstanceIds(home));
  for (const id of known) {
    const tags = await readOwner(instancePaths(home, id));
    if (tags === null ? !asked.has(id) : !isOwnedBy(tags, owner)) continue;
    const state = await observe(home, id, scan);
    if (state === 'gone' && !asked.has(id)) continue;
    observed.push({ id, state, owner: identityOf(owner), launchedAtMs: tags?.launchedAtMs ?? 0 });
  }
  for (const id of asked) {
    // This machine is the place that would know: an id without a directory has never lived here.
    if (!known.has(id)) observed.push({ id, state: 'gone', owner: identityOf(owner), launchedAtMs: 0 });
  }
  return observed;
}

/** Every instance of this deployment that is not gone, whoever owns it; a directory without tags is nobody's. */
export async function listInstances(home: string, deploymentId: string): Promise<ObservedInstance[]> {
  const scan = await scanProcesses();
  const observed: ObservedInstance[] = [];
  for (const id of await listInstanceIds(home)) {
    const tags = await readOwner(instancePaths(home, id));
    if (tags === null || tags.deploymentId !== deploymentId) continue;
    const state = await observe(home, id, scan);
    if (state !== 'gone') observed.push({ id, state, owner: identityOf(tags), launchedAtMs: tags.launchedAtMs });
  }
  return observed;
}

/** Instances of all owners in this home of which something still runs, but for those of `except`. */
export async function countLiving(home: string, except: ReadonlySet<string>): Promise<number> {
  const scan = await scanProcesses();
  let living = 0;
  for (const id of await listInstanceIds(home)) {
    if (!except.has(id) && (await observe(home, id, scan)) !== 'gone') living += 1;
  }
  return living;
}

export const isOwnedBy = (tags: Owner, owner: Owner): boolean =>
  tags.deploymentId === owner.deploymentId && tags.workspace === owner.workspace && tags.cluster === owner.cluster;

/** What still runs of an instance. */
export async function livingProcesses(
  home: string,
  id: string,
  scan: readonly ProcessEntry[],
): Promise<{ agentLives: boolean; processes: ProcessEntry[] }> {
  if (!isInstanceId(id)) return { agentLives: false, processes: [] };
  const paths = instancePaths(home, id);
  const [agent, taskGroup] = await Promise.all([readProcess(paths.claim), readProcess(paths.group)]);
  const processes = processesOfInstance(scan, { id, agent, taskGroup });
  return { agentLives: processes.some((entry) => isSame(entry, agent)), processes };
}

async function observe(home: string, id: string, scan: readonly ProcessEntry[]): Promise<ObservedState> {
  const { agentLives, processes } = await livingProcesses(home, id, scan);
  if (processes.length === 0) return 'gone';
  const paths = instancePaths(home, id);
  if (await exists(paths.tombstone)) return 'stopping';
  if (agentLives) return 'running';
  // Without a claim this is an agent on its way up; with one, tasks have outlived their agent.
  return (await exists(paths.claim)) ? 'stopping' : 'starting';
}

const identityOf = ({ deploymentId, workspace, cluster }: Owner): Owner => ({ deploymentId, workspace, cluster });
