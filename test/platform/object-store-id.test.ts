// One database has one object store.
import { describe, expect, it } from 'vitest';

import { objectStoreIdKey, readObjectStoreId, requireObjectStore } from '../../platform/object-store-id.ts';
import { memoryObjects } from './support.ts';

/** As the database answers. */
function database(): (id: string) => Promise<string> {
  let known: string | null = null;
  return async (id) => (known ??= id);
}

const at = (where: string, claim: (id: string) => Promise<string>) => ({ where, deploymentId: 'dep_1', claim });

describe('the object store of a database', () => {
  it('is the one that the first process used, for every other process', async () => {
    const [objects, claim] = [memoryObjects(), database()];
    const uses = Array.from({ length: 5 }, () => requireObjectStore(objects, at('s3://bucket/', claim)));
    await Promise.all(uses);
    expect(objects.keys()).toEqual([objectStoreIdKey]);
    expect(await readObjectStoreId(memoryObjects())).toBeNull();
  });

  it('is no other one, such as the directory of a second host', async () => {
    const claim = database();
    await requireObjectStore(memoryObjects(), at('/a/objects', claim));
    await expect(requireObjectStore(memoryObjects(), at('/b/objects', claim))).rejects.toThrow(
      'The objects in /b/objects are not those of the database of deployment dep_1.',
    );
  });
});
