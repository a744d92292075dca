// A stack's record of its child processes in $HOME/run/NAME.json, with which the next start ends those that outlived a killed
// stack. A pid is only ever signalled together with its start time, or with our variable in its environment.
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { z } from 'zod';

import { listInstanceIds } from '../providers/local/files.ts';
import { isSameProcess, scanProcesses, startTimeOf } from '../providers/local/processes.ts';
import { readJson, writeJson } from './files.ts';

/** An environment variable of each child of a stack, beside ROPEWALK_HOME. Agents do not inherit it. */
export const childMark = 'ROPEWALK_STACK_CHILD';

const record = z.object({ name: z.string(), pid: z.number(), startTime: z.string() });
export type ProcessRecord = z.infer<typeof record>;

export async function recordProcess(runDir: string, name: string, pid: number): Promise<void> {
  const startTime = await startTimeOf(pid);
  if (startTime !== null) await writeJson(join(runDir, `${name}.json`), { name, pid, startTime });
}

export async function forgetProcess(runDir: string, name: string): Promise<void> {
  await rm(join(runDir, `${name}.json`), { force: true });
}

/** Ends the children that an earlier stack of this home left running; returns their names. */
export async function endSurvivors(home: string, runDir: string): Promise<string[]> {
  const survivors = await findSurvivors(home, runDir);
  for (const survivor of survivors) signalGroup(survivor.pid, 'SIGTERM');
  await untilGone(survivors, 5_000);
  for (const survivor of survivors) if (await isSameProcess(survivor)) signalGroup(survivor.pid, 'SIGKILL');
  await untilGone(survivors, 5_000);
  for (const name of await recordNames(runDir)) await forgetProcess(runDir, name);
  return survivors.map((survivor) => survivor.name);
}

/** Running processes of a home: children of its stack, instances and their tasks. */
export async function processesLeft(home: string): Promise<{ name: string; pid: number }[]> {
  const ids = new Set(await listInstanceIds(home));
  const ofInstances = (await scanProcesses()).filter((entry) => entry.instance !== null && ids.has(entry.instance));
  return [
    ...(await findSurvivors(home, join(home, 'run'))),
    ...ofInstances.map(({ instance, pid }) => ({ name: instance ?? '', pid })),
  ];
}

/** Children lead their own process groups: a terminal's Ctrl-C reaches only the supervisor. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The process has already ended.
  }
}

async function findSurvivors(home: string, runDir: string): Promise<ProcessRecord[]> {
  const found = new Map<number, ProcessRecord>();
  for (const name of await recordNames(runDir)) {
    const known = await readJson(join(runDir, `${name}.json`), record);
    if (known !== null && (await isSameProcess(known))) found.set(known.pid, known);
  }
  for (const marked of await markedProcesses(home)) found.set(marked.pid, marked);
  return [...found.values()];
}

async function recordNames(runDir: string): Promise<string[]> {
  const files = await readdir(runDir);
  return files.filter((file) => file.endsWith('.json') && file !== 'stack.json').map((file) => file.slice(0, -5));
}

/**
 * Finds children without a record, left by a stack that was killed between starting and recording them. Linux only: elsewhere
 * none is found.
 */
async function markedProcesses(home: string): Promise<ProcessRecord[]> {
  if (process.platform !== 'linux') return [];
  const found: ProcessRecord[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)) {
    const variables = (await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')).split('\0');
    const mark = variables.find((text) => text.startsWith(`${childMark}=`));
    if (mark === undefined || !variables.includes(`ROPEWALK_HOME=${home}`) || pid === process.pid) continue;
    const startTime = await startTimeOf(pid);
    if (startTime !== null) found.push({ name: mark.slice(childMark.length + 1), pid, startTime });
  }
  return found;
}

async function untilGone(processes: ProcessRecord[], withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (Date.now() < deadline) {
    const alive = await Promise.all(processes.map(isSameProcess));
    if (!alive.includes(true)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
