// Results on disk until the control plane has acknowledged them: one file per lease, complete and synced before the
// result is sent for the first time.
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { TaskResult } from './state.ts';

export interface Results {
  keep(result: TaskResult): Promise<void>;
  forget(leases: number[]): Promise<void>;
}

export function createResults(directory: string): Results {
  const folder = join(directory, 'results');
  const pathOf = (lease: number): string => join(folder, `${lease}.json`);
  return {
    keep: async (result) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const temporary = `${pathOf(result.lease)}.tmp`;
      const file = await open(temporary, 'w', 0o600);
      try {
        await file.writeFile(JSON.stringify(result));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, pathOf(result.lease));
      const parent = await open(folder, 'r');
      await parent.sync().finally(() => parent.close());
    },
    forget: async (leases) => {
      for (const lease of leases) await rm(pathOf(lease), { force: true });
    },
  };
}
