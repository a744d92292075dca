// Ends what left its task's process group: the provider would find it, but when the dead-man timer ends an agent there is
// nobody else left to look. Found by ROPEWALK_INSTANCE in its environment, which only Linux lets us read; elsewhere, and for
// a process that emptied its environment, the machine has to be powered off.
import { readdirSync, readFileSync } from 'node:fs';

/** Kills every other process of this instance. Resolves to how many there were. */
export function killStrays(instance: string): number {
  if (process.platform !== 'linux') return 0;
  let killed = 0;
  // A process may have forked while the first look was under way.
  for (let look = 0, found = 1; found > 0 && look < maxLooks; look += 1) {
    found = 0;
    for (const pid of readdirSync('/proc')) if (/^\d+$/.test(pid) && killIfOurs(Number(pid), instance)) found += 1;
    killed += found;
  }
  return killed;
}

const maxLooks = 5;

function killIfOurs(pid: number, instance: string): boolean {
  if (pid === process.pid) return false;
  try {
    const isOurs = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`ROPEWALK_INSTANCE=${instance}`);
    if (isOurs) process.kill(pid, 'SIGKILL');
    return isOurs;
  } catch {
    // It has ended meanwhile, or is another user's.
    return false;
  }
}
