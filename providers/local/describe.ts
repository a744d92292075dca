// Observes the instances of this machine, from the kernel's process table and their owner files. Read-only.
import type { ObservedInstance, ObservedState, Owner } from '../provider.ts';
import { membersOf } from './control-group.ts';
import {
  exists,
  instancePaths,
  isInstanceId,
  listInstanceIds,
  readControlGroup,
  readOwner,
  readProcess,
} from './files.ts';
import { isSame, processesOfInstance, scanProcesses } from './processes.ts';
import type { ProcessEntry } from './processes.ts';

export interface Home {
  /** ROPEWALK_HOME. */
  home: string;
  /** Ids of ended instances with a tombstone. They can never run again, so later calls do not read their directories. */
  ended: Set<string>;
}

/** Every existing instance of this owner, and every instance of `ids`; never another owner's. */
export async function describeInstances(at: Home, owner: Owner, ids: string[]): Promise<ObservedInstance[]> {
  const { home } = at;
  const asked = new Set(ids);
  const scan = await scanProcesses();
  const observed: ObservedInstance[] = [];
  const known = new Set(await listInstanceIds(home));
  for (const id of known) {
    if (at.ended.has(id) && !asked.has(id)) continue;
    const tags = await readOwner(instancePaths(home, id));
    if (tags === null ? !asked.has(id) : !isOwnedBy(tags, owner)) continue;
    const state = await observe(at, id, scan);
    if (state === 'gone' && !asked.has(id)) continue;
    const isEnding = state === 'gone' || state === 'stopping';
    const wasOrdered = isEnding && (at.ended.has(id) || (await exists(instancePaths(home, id).tombstone)));
    const launchedAtMs = tags?.launchedAtMs ?? 0;
    const why = isEnding && !wasOrdered ? { whyEnded: 'its agent has ended; its log says why' } : {};
    observed.push({
      ...{ id, state, owner: identityOf(owner), launchedAtMs, ...(wasOrdered ? { wasOrdered } : {}), ...why },
    });
  }
  for (const id of asked) {
    // An id without a directory has never run on this machine, the only place where it could.
    if (!known.has(id)) observed.push({ id, state: 'gone', owner: identityOf(owner), launchedAtMs: 0 });
  }
  return observed;
}

/** Every existing instance of this deployment. A directory without tags belongs to no deployment. */
export async function listInstances(at: Home, deploymentId: string): Promise<ObservedInstance[]> {
  const scan = await scanProcesses();
  const observed: ObservedInstance[] = [];
  for (const id of await listInstanceIds(at.home)) {
    if (at.ended.has(id)) continue;
    const tags = await readOwner(instancePaths(at.home, id));
    if (tags === null || tags.deploymentId !== deploymentId) continue;
    const state = await observe(at, id, scan);
    if (state !== 'gone') observed.push({ id, state, owner: identityOf(tags), launchedAtMs: tags.launchedAtMs });
  }
  return observed;
}

/** Ids of the instances of any owner in this home with a running process. */
export async function livingInstances(at: Home): Promise<string[]> {
  const scan = await scanProcesses();
  const living: string[] = [];
  for (const id of await listInstanceIds(at.home)) {
    if (!at.ended.has(id) && (await observe(at, id, scan)) !== 'gone') living.push(id);
  }
  return living;
}

export const isOwnedBy = (tags: Owner, owner: Owner): boolean =>
  tags.deploymentId === owner.deploymentId && tags.workspace === owner.workspace && tags.cluster === owner.cluster;

/** The processes of an instance that still run. */
export async function livingProcesses(
  home: string,
  id: string,
  scan: readonly ProcessEntry[],
): Promise<{ agentLives: boolean; processes: ProcessEntry[] }> {
  if (!isInstanceId(id)) return { agentLives: false, processes: [] };
  const paths = instancePaths(home, id);
  const [agent, taskGroup, group] = await Promise.all([
    readProcess(paths.claim),
    readProcess(paths.group),
    readControlGroup(id, paths),
  ]);
  const members = group === null ? [] : await membersOf(group);
  const processes = processesOfInstance(scan, { id, agent, taskGroup, members });
  return { agentLives: processes.some((entry) => isSame(entry, agent)), processes };
}

async function observe(at: Home, id: string, scan: readonly ProcessEntry[]): Promise<ObservedState> {
  const { home, ended } = at;
  const paths = instancePaths(home, id);
  if (ended.has(id)) return 'gone';
  const hasTombstone = await exists(paths.tombstone);
  const { agentLives, processes } = await livingProcesses(home, id, scan);
  if (processes.length === 0) {
    if (hasTombstone) ended.add(id);
    return 'gone';
  }
  if (hasTombstone) return 'stopping';
  if (agentLives) return 'running';
  // Without a claim, the agent is still starting; with one, tasks outlived their agent.
  return (await exists(paths.claim)) ? 'stopping' : 'starting';
}

const identityOf = ({ deploymentId, workspace, cluster }: Owner): Owner => ({ deploymentId, workspace, cluster });
