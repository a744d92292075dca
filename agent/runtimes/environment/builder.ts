// The builder of a directory, named by pid, start time and host, by which others detect a dead builder.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

import { startTimeOf } from '../../processes/start-time.ts';

/** This process, in a form for file names. */
export const thisBuilder = (): string => builderName(process.pid, startTimeOf(process.pid));

/** A temporary name of this builder: build-once.ts removes it when the builder is dead. */
export const ownName = (name: string): string => `${name}.${thisBuilder()}.${randomBytes(6).toString('hex')}`;

/** False when that very process has ended; null when it ran on another machine, where this is unknown. */
export function isBuilding(builder: string): boolean | null {
  const [, pid, host] = /^(\d+)-[0-9a-f]{8}-([0-9a-f]{8})$/.exec(builder) ?? [];
  if (pid === undefined) return false;
  if (host !== short(hostname())) return null;
  const startTime = startTimeOf(Number(pid));
  return startTime !== '' && builder === builderName(Number(pid), startTime) && !isZombie(Number(pid));
}

const builderName = (pid: number, startTime: string): string => `${pid}-${short(startTime)}-${short(hostname())}`;

const short = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

/** A dead process that its parent has not reaped. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return true;
  }
}
