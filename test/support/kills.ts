// Kills real processes while leases are open, records the kills, and proves that they had an effect.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { Client } from '../../sdk/client.ts';
import { eventually } from './eventually.ts';

export interface Kill {
  target: string;
  pids: number[];
  at: string;
  leasesHeld: number;
  doneBefore: number;
}

/** Pids of the living agents of a home, by instance id. */
export function agentPids(home: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const id of listed(join(home, 'instances'))) {
    const claim = read<{ pid: number }>(join(home, 'instances', id, 'claim.json'));
    if (claim !== null && isAgent(claim.pid, id)) found.set(id, claim.pid);
  }
  return found;
}

/** Kills all at once: nothing can happen between two of the kills. */
export async function killNow(target: string, pids: number[], client: Client, job: number): Promise<Kill> {
  const before = await client.jobs.get(job);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  const kill: Kill = {
    target,
    pids,
    at: new Date().toISOString(),
    leasesHeld: before.tasks.assigned + before.tasks.running,
    doneBefore: before.tasks.done,
  };
  console.log(
    `killed ${target} ${pids.join(',')} at ${kill.at}, ${kill.leasesHeld} leases held, ${kill.doneBefore} done`,
  );
  await eventually(() => pids.every((pid) => !isAlive(pid)), { intervalMs: 20 });
  return kill;
}

export function isAlive(pid: number): boolean {
  try {
    // A zombie is dead: its parent has merely not reaped it yet.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return false;
  }
}

function isAgent(pid: number, id: string): boolean {
  try {
    return isAlive(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`ROPEWALK_INSTANCE=${id}`);
  } catch {
    return false;
  }
}

function listed(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** JSON that the product wrote; null while the file is missing. */
export function read<T>(path: string): T | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}
