// The instance's own control group, where the system lets the agent create one: Linux with cgroup v2, as root or in a delegated
// subtree. It holds every process that a task starts, including a daemon that left its process group and cleared its
// environment. Node cannot become a subreaper (PR_SET_CHILD_SUBREAPER), which would find such a daemon elsewhere too.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Moves this process into the instance's group and returns its path; null where the system has none for us. */
export function joinControlGroup(instance: string): string | null {
  try {
    const own = ownGroup();
    if (own === null) return null;
    const path = join(own, `ropewalk-${instance}`);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'cgroup.procs'), String(process.pid));
    return path;
  } catch {
    return null;
  }
}

/** Moves back to the agent's original group. Removes the instance's group, unless a process still runs in it. */
export function leaveControlGroup(path: string | null): void {
  if (path === null) return;
  try {
    writeFileSync(join(dirname(path), 'cgroup.procs'), String(process.pid));
    rmdirSync(path);
  } catch {
    // The provider removes it when it terminates the instance.
  }
}

/** Every process of the group and its descendants. */
export function membersOf(path: string): number[] {
  try {
    const below = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const pids = readFileSync(join(path, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
    return [...pids, ...below.flatMap(({ name }) => membersOf(join(path, name)))];
  } catch {
    return [];
  }
}

function ownGroup(): string | null {
  if (process.platform !== 'linux') return null;
  const mount = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, , type]) => type === 'cgroup2')?.[1];
  const own = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
  return mount === undefined || own === undefined ? null : join(mount, own);
}
