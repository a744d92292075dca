// The start time of a process, which identifies it together with its pid. The same text as in providers/local/processes.ts (a
// test compares them); duplicated because an agent shares no code with a provider.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Empty when the process does not exist. */
export function startTimeOf(pid: number): string {
  try {
    if (process.platform !== 'linux') {
      const env = { LC_ALL: 'C', PATH: '/usr/bin:/bin' };
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env }).trim();
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
