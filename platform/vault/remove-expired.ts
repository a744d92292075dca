// Deletes expired sealed objects that were not deleted before: the outcome of their admission is unknown, or the process died
// in between. Jobs and clusters that end normally delete their own long before; expired envelopes cannot be opened. An object
// that is not an envelope stays, for the operator to inspect.
import type { Objects } from '../objects/objects.ts';
import { expiryOf } from './vault.ts';

export interface ExpiredRound {
  prefix: string;
  /** The end of the previous round; empty for the beginning. */
  after: string;
  /** Deletes objects that expired before this time. */
  beforeMs: number;
  maxKeys: number;
  /** Stops reading after this many bytes, because bundles contain files. */
  maxBytes: number;
}

/**
 * Runs one round and returns the start of the next: the beginning again when this one reached the end. Continues after failed
 * deletions.
 */
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
