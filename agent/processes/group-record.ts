// Records the process group that an instance runs, for the provider that ends it when its agent is dead. Written in one piece over the
// last one: replacing the file for every task would send each to the disk. A reader of half a record finds no such process, and reads
// again.
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { startTimeOf } from './start-time.ts';

/** Never throws: on Linux the group is found without it, by the environment of its members. */
export function recordGroup(directory: string, pid: number): void {
  const record = JSON.stringify({ pid, startTime: startTimeOf(pid) }).padEnd(recordBytes);
  try {
    const file = openSync(join(directory, 'group.json'), constants.O_WRONLY | constants.O_CREAT, 0o600);
    try {
      writeSync(file, record, 0);
    } finally {
      closeSync(file);
    }
  } catch {
    // A disk that is full, or no descriptor left: the command itself need not suffer.
  }
}

/** More than the longest record, so that nothing of a longer one is left behind a shorter one. */
const recordBytes = 128;
