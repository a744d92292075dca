// Deletes sealed objects that were never deleted: the outcome of their admission is unknown, or the process died in between. Jobs and
// clusters that end in order delete their own long before; expired envelopes cannot be opened any more. An object that is no envelope
// stays, for the operator to inspect.
import type { Objects } from '../objects/objects.ts';
import { expiryOf } from './vault.ts';

export interface ExpiredRound {
  prefix: string;
  /** Where the round before ended; from the beginning when empty. */
  after: string;
  /** What expired before it is deleted. */
  beforeMs: number;
  maxKeys: number;
  /** No more is read once so much has been: bundles hold files. */
  maxBytes: number;
}

/** One round, and where the next begins: at the beginning again when this one has seen the last. Deletes what it can. */
export async function removeExpired(
  objects: Pick<Objects, 'list' | 'get' | 'delete'>,
  { prefix, after, beforeMs, maxKeys, maxBytes }: ExpiredRound,
): Promise<{ removed: number; failed: number; after: string }> {
  const round = { removed: 0, failed: 0 };
  const keys = await objects.list(prefix, { after, limit: maxKeys });
  let bytes = 0;
  for (const [index, key] of keys.entries()) {
    try {
      const stored = await objects.get(key);
      bytes += stored?.length ?? 0;
      const expiresAtMs = stored === null ? null : expiryOf(stored);
      if (expiresAtMs !== null && expiresAtMs < beforeMs) {
        await objects.delete(key);
        round.removed += 1;
      }
    } catch {
      round.failed += 1;
    }
    if (bytes >= maxBytes && index < keys.length - 1) return { ...round, after: key };
  }
  return { ...round, after: keys.length < maxKeys ? '' : (keys.at(-1) ?? '') };
}
