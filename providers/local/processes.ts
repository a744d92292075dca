// Finds the processes of this machine that belong to an instance. The kernel reuses pids, so a process is identified by its pid
// and its start time. A zombie counts as ended.
//
// On Linux every process of an instance is found by ROPEWALK_INSTANCE in its environment and by its control group, where the
// agent could create one; without a group, a daemon that clears its environment escapes. Elsewhere another process's
// environment cannot be read: only the agent, the task group that it recorded, and their descendants are found, so a task with
// its own process group and without its parents can escape. This module sends no signals; terminate.ts does.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface ProcessIdentity {
  pid: number;
  /** Clock ticks since boot on Linux, the text of `ps -o lstart=` elsewhere; only compared. */
  startTime: string;
}

export interface ProcessEntry extends ProcessIdentity {
  parent: number;
  group: number;
  /** Value of ROPEWALK_INSTANCE in its environment; null where it is missing or unreadable. */
  instance: string | null;
}

const run = promisify(execFile);
const isLinux = process.platform === 'linux';
const marker = 'ROPEWALK_INSTANCE=';
/** Entries of /proc read before yielding to other work: a few milliseconds. */
const readsAtOnce = 16;

/** Start time of a running process; null when it has ended or is a zombie. */
export async function startTimeOf(pid: number): Promise<string | null> {
  if (isLinux) return linuxStat(pid)?.startTime ?? null;
  const entries = await entriesFromPs(['-p', String(pid)]);
  return entries[0]?.startTime ?? null;
}

/** True while this very process runs, not another one with the same pid. */
export async function isSameProcess(identity: ProcessIdentity): Promise<boolean> {
  return (await startTimeOf(identity.pid)) === identity.startTime;
}

let last: Promise<unknown> = Promise.resolve();
let next: Promise<ProcessEntry[]> | null = null;

/**
 * Every running process that this user can read. Callers during a scan share the next one, which begins after their call:
 * otherwise each of many instances that end together would scan the whole machine.
 */
export function scanProcesses(): Promise<ProcessEntry[]> {
  next ??= last.then(() => {
    next = null;
    return scanOnce();
  });
  last = next.catch(() => undefined);
  return next;
}

async function scanOnce(): Promise<ProcessEntry[]> {
  if (!isLinux) return entriesFromPs(['-A']);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found: ProcessEntry[] = [];
  for (let from = 0; from < pids.length; from += readsAtOnce) {
    if (from > 0) await setImmediate();
    for (const pid of pids.slice(from, from + readsAtOnce)) {
      const entry = linuxEntry(pid);
      if (entry !== null) found.push(entry);
    }
  }
  return found;
}

/**
 * The processes of one instance within a scan: those with its id in their environment, its agent, its control group, its
 * recorded task group, and all descendants. Never includes this process.
 */
export function processesOfInstance(
  scan: readonly ProcessEntry[],
  instance: {
    id: string;
    agent: ProcessIdentity | null;
    taskGroup: ProcessIdentity | null;
    /** Process ids of its control group. */
    members?: readonly number[];
  },
): ProcessEntry[] {
  const carriers = scan.filter((entry) => entry.instance === instance.id);
  const agent = scan.filter((entry) => isSame(entry, instance.agent));
  const inControlGroup = new Set(instance.members);
  const grouped = scan.filter(({ pid }) => inControlGroup.has(pid));
  const members = new Set([...carriers, ...agent, ...grouped, ...groupMembers(scan, instance.taskGroup)]);
  const pids = new Set([...members].map((entry) => entry.pid));
  for (let grew = true; grew;) {
    grew = false;
    for (const entry of scan) {
      if (!pids.has(entry.pid) && pids.has(entry.parent)) {
        members.add(entry);
        pids.add(entry.pid);
        grew = true;
      }
    }
  }
  return [...members].filter((entry) => entry.pid !== process.pid);
}

export const isSame = (entry: ProcessIdentity, other: ProcessIdentity | null): boolean =>
  other !== null && entry.pid === other.pid && entry.startTime === other.startTime;

/** After its leader's death a group's number may belong to another group; then only descendants are trusted. */
function groupMembers(scan: readonly ProcessEntry[], leader: ProcessIdentity | null): ProcessEntry[] {
  if (leader === null || !scan.some((entry) => isSame(entry, leader))) return [];
  return scan.filter((entry) => entry.group === leader.pid);
}

function linuxEntry(pid: number): ProcessEntry | null {
  const stat = linuxStat(pid);
  if (stat === null) return null;
  const environment = readOrNull(`/proc/${pid}/environ`);
  const variable = environment?.split('\0').find((text) => text.startsWith(marker));
  return { ...stat, instance: variable === undefined ? null : variable.slice(marker.length) };
}

function linuxStat(pid: number): Omit<ProcessEntry, 'instance'> | null {
  const text = readOrNull(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The command name is in parentheses and may contain spaces and parentheses: the fields after the last one are regular.
  const [state, parent, group, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const startTime = rest[16];
  if (state === undefined || state === 'Z' || state === 'X' || startTime === undefined) return null;
  return { pid, parent: Number(parent), group: Number(group), startTime };
}

async function entriesFromPs(selection: string[]): Promise<ProcessEntry[]> {
  const output = await run('ps', [...selection, '-o', 'pid=,ppid=,pgid=,stat=,lstart='], {
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    maxBuffer: 16 * 1024 * 1024,
  }).then(
    ({ stdout }) => stdout,
    () => '',
  );
  return output.split('\n').flatMap((line) => {
    const [, pid, parent, group, state, startTime] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    if (startTime === undefined || state === undefined || state.startsWith('Z')) return [];
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), startTime, instance: null }];
  });
}

/**
 * A process may end between two reads, and another user's environment is unreadable. The kernel answers from memory, so
 * asynchronous reads through the thread pool would cost ten times as much.
 */
function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}
