// Brings results to the disk: those that are there when a write begins go together, and one write is under way at a time.
import { setTimeout as sleep } from 'node:timers/promises';

import type { TaskResult } from './exchange-state.ts';

export interface KeeperInput {
  unkept: () => readonly TaskResult[];
  keep: (batch: readonly TaskResult[]) => Promise<void>;
  kept: (batch: readonly TaskResult[]) => void;
}

/** Call it when there is something to keep. It may wait for more that long; a call without a wait cuts that short. */
export function createKeeper({ unkept, keep, kept }: KeeperInput): (waitMs: number) => Promise<void> {
  let hurry: AbortController | null = null;
  return async (waitMs) => {
    if (waitMs === 0) hurry?.abort();
    if (hurry !== null) return;
    hurry = new AbortController();
    try {
      if (waitMs > 0) await sleep(waitMs, undefined, { ref: false, signal: hurry.signal }).catch(() => undefined);
      for (let batch = unkept(); batch.length > 0; batch = unkept()) {
        await keep(batch);
        kept(batch);
      }
    } finally {
      hurry = null;
    }
  };
}
