// Results on disk until the control plane has acknowledged them: complete and synced before they are sent for the first time.
// Those that came up together share a file, so that short tasks do not wait for a disk each.
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { TaskResult } from './exchange-state.ts';

export interface Results {
  keep(results: readonly TaskResult[]): Promise<void>;
  forget(leases: readonly number[]): Promise<void>;
}

/** Files are named for the first lease in them, with one result a line. */
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
        // A file that stays costs some bytes; a result that is not reported costs a task.
        await rm(path, { force: true }).catch(() => undefined);
      }
    },
  };
}
