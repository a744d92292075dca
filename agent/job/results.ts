// Results on disk until the control plane has acknowledged them: complete and synced before they are first sent. Results that
// arrive together share a file: short tasks should not each wait for the disk.
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { TaskResult } from './exchange-state.ts';

export interface Results {
  keep(results: readonly TaskResult[]): Promise<void>;
  forget(leases: readonly number[]): Promise<void>;
}

/** A file is named after its first lease and has one result per line. */
export function createResults(directory: string): Results {
  const folder = join(directory, 'results');
  const files = new Map<string, Set<number>>();
  return {
    keep: async (results) => {
      const [first] = results;
      if (first === undefined) return;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, `${first.lease}.jsonl`);
      const file = await open(`${path}.tmp`, 'w', 0o600);
      try {
        await file.writeFile(results.map((result) => `${JSON.stringify(result)}\n`).join(''));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}.tmp`, path);
      const parent = await open(folder, 'r');
      await parent.sync().finally(() => parent.close());
      files.set(path, new Set(results.map(({ lease }) => lease)));
    },
    forget: async (leases) => {
      for (const [path, open] of files) {
        for (const lease of leases) open.delete(lease);
        if (open.size > 0) continue;
        files.delete(path);
        // A leftover file costs some bytes; an unreported result costs a task.
        await rm(path, { force: true }).catch(() => undefined);
      }
    },
  };
}
