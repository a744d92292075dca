// Ends the orphaned processes of an instance: those that left the process group of their task. The provider would find them,
// but after the watchdog ended an agent nothing else does. They are found by the instance's control group and by
// ROPEWALK_INSTANCE in their environment, which only Linux exposes; elsewhere the machine must be powered off.
import { readdirSync, readFileSync } from 'node:fs';

import { membersOf } from './control-group.ts';

/** Kills every other process of this instance; returns their number. */
export function killOrphans(instance: string, controlGroup: string | null): number {
  if (process.platform !== 'linux') return 0;
  let killed = 0;
  // A process may fork during a scan.
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
    // The process has ended meanwhile, or belongs to another user.
    return false;
  }
}
