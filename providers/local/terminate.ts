// Ends instances with everything they started. The tombstone comes first, so that an agent which claims its name later
// ends itself; then its processes are ended until two looks in a row find none. Resolved means gone.
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Owner } from '../provider.ts';
import { isOwnedBy, livingProcesses } from './describe.ts';
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

/** An agent ends its tasks itself when asked: TERM, 2 s, KILL. */
const graceMs = 3_000;
const pollMs = 50;

/** Ends those of `ids` that belong to this owner. Repeats, unknown ids and other owners' are no error. */
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
  await askAgents(home, own, known);
  await waitForGrace(home, own, known, signal);
  await killAll(home, own, known, signal);
  for (const id of own) await removeWork(id, instancePaths(home, id));
}

async function askAgents(home: string, ids: string[], known: Map<string, ProcessEntry>): Promise<void> {
  const living = await look(home, ids, known);
  for (const id of ids) {
    const agent = await readProcess(instancePaths(home, id).claim);
    if (!living.some((entry) => isSame(entry, agent))) continue;
    await send(agent, 'SIGTERM');
    // A stopped process receives nothing but KILL until it is continued.
    await send(agent, 'SIGCONT');
  }
}

/** Only living agents deserve grace: without one, nobody tells the tasks to end. */
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
    await look(home, ids, known);
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
  // Twice, because a process may have forked while the first look was under way.
  for (let emptyLooks = 0; ; await sleep(pollMs, undefined, { signal })) {
    const living = await look(home, ids, known);
    emptyLooks = living.length === 0 ? emptyLooks + 1 : 0;
    if (emptyLooks === 2) return;
    for (const entry of living) {
      await send(entry, 'SIGKILL');
      await send(entry, 'SIGCONT');
    }
  }
}

/**
 * Everything that lives of these instances, including what an earlier look saw: a process whose parents have ended and
 * whose environment says nothing is found no other way.
 */
async function look(home: string, ids: string[], known: Map<string, ProcessEntry>): Promise<ProcessEntry[]> {
  const scan = await scanProcesses();
  for (const id of ids) {
    const { processes } = await livingProcesses(home, id, scan);
    for (const entry of processes) known.set(identity(entry), entry);
  }
  return scan.filter((entry) => known.has(identity(entry)));
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

/** Its tags, its tombstone and its logs stay. */
async function removeWork(id: string, paths: InstancePaths): Promise<void> {
  const group = await readControlGroup(id, paths);
  if (group !== null) await removeControlGroup(group);
  await removeTree(paths.work);
  await removeTree(paths.results);
  await rm(paths.boot, { force: true });
}
