// Records the instance's process group, for the provider that ends it after the agent's death. Overwrites the previous record
// in one write: replacing the file for every task would cause a disk write each. A reader of half a record finds no such
// process, and reads again.
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { startTimeOf } from './start-time.ts';

/** Never throws: on Linux the group is also found by the environment of its members. */
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
    // A full disk or a lack of descriptors must not affect the command.
  }
}

/** Longer than the longest record, so that a shorter one overwrites it completely. */
const recordBytes = 128;
