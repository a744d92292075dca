// Terminates instances with everything they started. The tombstone comes first: an agent that claims its id later ends itself.
// Then the instance's processes are killed until two scans in a row find none.
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Owner } from '../provider.ts';
import { isOwnedBy, livingProcesses } from './describe.ts';
import { removeContainers } from './containers.ts';
import { removeControlGroup } from './control-group.ts';
import {
  errorCode,
  instancePaths,
  isInstanceId,
  readControlGroup,
  readOwner,
  readProcess,
  writeOnce,
} from './files.ts';
import type { InstancePaths } from './files.ts';
import { isSame, isSameProcess, scanProcesses } from './processes.ts';
import type { ProcessEntry, ProcessIdentity } from './processes.ts';
import { removeTree } from './remove-tree.ts';

/** An agent that gets TERM ends its tasks itself: TERM, 2 s, KILL. */
const graceMs = 3_000;
const pollMs = 50;

/** Terminates those of `ids` that belong to this owner. Ignores repeats, unknown ids and ids of other owners. */
export async function terminateInstances(
  home: string,
  owner: Owner,
  ids: string[],
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const own: string[] = [];
  for (const id of new Set(ids.filter(isInstanceId))) {
    const paths = instancePaths(home, id);
    const tags = await readOwner(paths);
    if (tags !== null && !isOwnedBy(tags, owner)) continue;
    await writeOnce(paths.tombstone, '');
    own.push(id);
  }
  const known = new Map<string, ProcessEntry>();
  await signalAgents(home, own, known);
  await waitForGrace(home, own, known, signal);
  // Comes first, because an engine whose container monitor was killed needs many seconds to remove the container.
  for (const id of own) await removeContainers(id, instancePaths(home, id).containers);
  await killAll(home, own, known, signal);
  for (const id of own) await removeWork(id, instancePaths(home, id));
}

async function signalAgents(home: string, ids: string[], known: Map<string, ProcessEntry>): Promise<void> {
  const living = await scan(home, ids, known);
  for (const id of ids) {
    const agent = await readProcess(instancePaths(home, id).claim);
    if (!living.some((entry) => isSame(entry, agent))) continue;
    await send(agent, 'SIGTERM');
    // A stopped process handles no signal but KILL until it is continued.
    await send(agent, 'SIGCONT');
  }
}

/** The grace period applies only while an agent runs, because only the agent ends tasks gracefully. */
async function waitForGrace(
  home: string,
  ids: string[],
  known: Map<string, ProcessEntry>,
  signal: AbortSignal,
): Promise<void> {
  for (
    const endMs = performance.now() + graceMs;
    performance.now() < endMs;
    await sleep(pollMs, undefined, { signal })
  ) {
    await scan(home, ids, known);
    const agents = await Promise.all(ids.map((id) => readProcess(instancePaths(home, id).claim)));
    const alive = await Promise.all(agents.map(async (agent) => agent !== null && (await isSameProcess(agent))));
    if (!alive.includes(true)) return;
  }
}

async function killAll(
  home: string,
  ids: string[],
  known: Map<string, ProcessEntry>,
  signal: AbortSignal,
): Promise<void> {
  // Two empty scans, because a process may fork while the first one is under way.
  for (let emptyScans = 0; ; await sleep(pollMs, undefined, { signal })) {
    const living = await scan(home, ids, known);
    emptyScans = living.length === 0 ? emptyScans + 1 : 0;
    if (emptyScans === 2) return;
    for (const entry of living) {
      await send(entry, 'SIGKILL');
      await send(entry, 'SIGCONT');
    }
  }
}

/**
 * Every running process of these instances, including those of a previous scan. Without control groups, only the previous scan
 * finds a process whose parents have ended and whose environment is empty.
 */
async function scan(home: string, ids: string[], known: Map<string, ProcessEntry>): Promise<ProcessEntry[]> {
  const running = await scanProcesses();
  for (const id of ids) {
    const { processes } = await livingProcesses(home, id, running);
    for (const entry of processes) known.set(identity(entry), entry);
  }
  return running.filter((entry) => known.has(identity(entry)));
}

const identity = ({ pid, startTime }: ProcessIdentity): string => `${pid} ${startTime}`;

async function send(target: ProcessIdentity | null, signal: NodeJS.Signals): Promise<void> {
  if (target === null || !(await isSameProcess(target))) return;
  try {
    process.kill(target.pid, signal);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

/** The instance's tags, tombstone and logs stay. */
async function removeWork(id: string, paths: InstancePaths): Promise<void> {
  const group = await readControlGroup(id, paths);
  if (group !== null) await removeControlGroup(group);
  await removeTree(paths.work);
  await removeTree(paths.results);
  await rm(paths.containers, { force: true });
  await rm(paths.boot, { force: true });
}
