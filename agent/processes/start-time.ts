// When a process started: with its pid, the only name a process keeps. The same text as providers/local/processes.ts
// reads (a test compares them); written again here because an agent shares no code with a provider.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Empty when the process is gone. */
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
