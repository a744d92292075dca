// Writes results to the disk: those that exist at the start of a write go together, and one write is in flight at a time.
import { setTimeout as sleep } from 'node:timers/promises';

import type { TaskResult } from './exchange-state.ts';

export interface ResultWriterInput {
  unkept: () => readonly TaskResult[];
  keep: (batch: readonly TaskResult[]) => Promise<void>;
  kept: (batch: readonly TaskResult[]) => void;
  /** The disk stored none of a batch; `kept` is called nevertheless, because its tasks have run. */
  failed: (error: unknown) => void;
}

/** Call it when there is a result to write. It may wait that long for more; a call without a wait cuts the wait short. */
export function createResultWriter({
  unkept,
  keep,
  kept,
  failed,
}: ResultWriterInput): (waitMs: number) => Promise<void> {
  let hurry: AbortController | null = null;
  return async (waitMs) => {
    if (waitMs === 0) hurry?.abort();
    if (hurry !== null) return;
    hurry = new AbortController();
    try {
      if (waitMs > 0) await sleep(waitMs, undefined, { ref: false, signal: hurry.signal }).catch(() => undefined);
      for (let batch = unkept(); batch.length > 0; batch = unkept()) {
        await keep(batch).catch(failed);
        kept(batch);
      }
    } finally {
      hurry = null;
    }
  };
}
