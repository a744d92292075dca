// The log files of ended tasks, on an instance that ships its logs: the files are no longer read, and thousands of them must
// not fill the disk of the next tasks. The oldest are removed first.
import type { LogFile } from './log.ts';

export interface ClosedLogs {
  add: (log: Pick<LogFile, 'bytes' | 'remove'>) => Promise<void>;
}

export function createClosedLogs(maxBytes: number): ClosedLogs {
  const kept: { bytes: number; remove: () => Promise<void> }[] = [];
  let total = 0;
  return {
    add: async (log) => {
      const bytes = log.bytes();
      if (bytes === 0) return;
      kept.push({ bytes, remove: log.remove });
      total += bytes;
      while (total > maxBytes) {
        const oldest = kept.shift();
        if (oldest === undefined) return;
        total -= oldest.bytes;
        await oldest.remove();
      }
    },
  };
}
