// Finds the processes of this machine that belong to an instance. The kernel reuses pids: a process is identified by its pid
// and its start time. A zombie counts as gone.
//
// On Linux every process of an instance is found by ROPEWALK_INSTANCE in its environment and, where the agent could make a
// control group, by that too: a daemon that empties its environment escapes only without one. Elsewhere another process's
// environment cannot be read: there only the agent, the task group it recorded, and their descendants are found, so a
// task with a process group of its own and without its parents can escape. Never signals anything: terminate.ts does.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface ProcessIdentity {
  pid: number;
  /** Clock ticks since boot on Linux, the text of `ps -o lstart=` elsewhere: only ever compared. */
  startTime: string;
}

export interface ProcessEntry extends ProcessIdentity {
  parent: number;
  group: number;
  /** Value of ROPEWALK_INSTANCE in its environment; null where that is missing or unreadable. */
  instance: string | null;
}

const run = promisify(execFile);
const isLinux = process.platform === 'linux';
const marker = 'ROPEWALK_INSTANCE=';
/** Entries of /proc read before others have their turn: a few milliseconds. */
const readsAtOnce = 16;

/** Start time of a running process; null when it is gone or a zombie. */
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
 * Every running process that this user can read. Callers that come while a scan is under way share the next one, which begins after
 * their call: instances that end together would else scan the whole machine each.
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
 * The processes of one instance among those of a scan: the ones that carry its id, its agent, its control group, its
 * recorded task group, and everything descended from them. This process itself is never among them.
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

/** After its leader's death a group's number may belong to another group: then only descendants are trusted. */
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
 * A process may end between two reads, and another user's environment is unreadable. The kernel answers from memory: the way through
 * the disk threads would cost ten times as much.
 */
function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}
