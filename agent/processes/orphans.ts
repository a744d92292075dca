// Ends the orphaned processes of an instance: those that left the process group of their task. The provider would find them,
// but when the watchdog ends an agent nothing else looks for them. They are found by the instance's control group and by
// ROPEWALK_INSTANCE in their environment, which only Linux lets us read; elsewhere the machine has to be powered off.
import { readdirSync, readFileSync } from 'node:fs';

import { membersOf } from './control-group.ts';

/** Kills every other process of this instance; returns how many there were. */
export function killOrphans(instance: string, controlGroup: string | null): number {
  if (process.platform !== 'linux') return 0;
  let killed = 0;
  // A process may fork while a scan is under way.
  for (let scans = 0, found = 1; found > 0 && scans < maxScans; scans += 1) {
    const members = new Set(controlGroup === null ? [] : membersOf(controlGroup));
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    found = pids.map(Number).filter((pid) => killIfOurs(pid, instance, members)).length;
    killed += found;
  }
  return killed;
}

const maxScans = 5;

function killIfOurs(pid: number, instance: string, members: ReadonlySet<number>): boolean {
  if (pid === process.pid) return false;
  try {
    const isOurs =
      members.has(pid) ||
      readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`ROPEWALK_INSTANCE=${instance}`);
    if (isOurs) process.kill(pid, 'SIGKILL');
    return isOurs;
  } catch {
    // It has ended meanwhile, or is another user's.
    return false;
  }
}
