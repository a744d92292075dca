// Leaves word of the process group that an instance runs, for whoever has to end it when its agent is dead.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { startTimeOf } from './process-start.ts';

export function recordGroup(directory: string, pid: number): void {
  const path = join(directory, 'group.json');
  writeFileSync(`${path}.tmp`, JSON.stringify({ pid, startTime: startTimeOf(pid) }), { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}
