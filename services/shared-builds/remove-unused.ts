// Deletes archives that no instance has downloaded for long. Every replica does so; each archive is claimed by one of them.
import { environmentArchivePrefix } from '../../platform/archive-keys.ts';
import type { Deps } from '../context.ts';

/** Never rejects. Resolves to the number of environments whose archives were deleted. */
export async function removeUnusedArchives(
  deps: Pick<Deps, 'store' | 'objects' | 'logger' | 'now' | 'archives'>,
): Promise<number> {
  const { store, objects, logger, now, archives } = deps;
  let removed = 0;
  try {
    for (;;) {
      const unused = await store.sharedBuilds.removeUnused({ beforeMs: now() - archives.keptMs, limit: atOnce });
      for (const { workspace, id } of unused) {
        // Includes archives that builders uploaded but could not record.
        const prefix = environmentArchivePrefix(workspace, id);
        for (const key of await objects.list(prefix, { limit: maxObjects })) await objects.delete(key);
      }
      removed += unused.length;
      if (unused.length < atOnce) break;
    }
  } catch (error) {
    logger.warn({ err: error }, 'unused archives of environments could not be deleted now');
  }
  if (removed > 0) logger.info({ removed }, 'unused environments were deleted from the object store');
  return removed;
}

export const removeUnusedEveryMs = 3_600_000;
const atOnce = 50;
const maxObjects = 1_000;
