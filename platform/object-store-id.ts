// Checks that an object store belongs to the database. Two hosts with the same database but separate directories or buckets
// would both start: a Temporal worker that does not find the specifications of the other host's jobs would end them for good.
import { RopewalkError } from '../domain/errors.ts';
import { randomId } from './ids.ts';
import type { Objects } from './objects/objects.ts';

export const objectStoreIdKey = 'deployment/store-id';

/** @throws RopewalkError CONFLICT when the database was used with another object store. */
export async function requireObjectStore(
  objects: Pick<Objects, 'get' | 'create'>,
  { where, deploymentId, claim }: { where: string; deploymentId: string; claim: (id: string) => Promise<string> },
): Promise<void> {
  const id = await idOf(objects);
  if ((await claim(id)) === id) return;
  throw new RopewalkError({ code: 'CONFLICT', ...otherObjectStore(where, deploymentId) });
}

export const otherObjectStore = (where: string, deploymentId: string): { message: string; hint: string } => ({
  message: `The objects in ${where} are not those of the database of deployment ${deploymentId}.`,
  hint: 'Set ROPEWALK_OBJECTS as on the other hosts: a directory serves one host. After a loss of the objects: docs/operations.md, "Backup and restore".',
});

/** Null when no process has used the store. */
export async function readObjectStoreId(objects: Pick<Objects, 'get'>): Promise<string | null> {
  const bytes = await objects.get(objectStoreIdKey);
  return bytes === null ? null : Buffer.from(bytes).toString('utf8');
}

/** Created by the first process that uses the store, and copied with its objects. */
async function idOf(objects: Pick<Objects, 'get' | 'create'>): Promise<string> {
  const mine = randomId('store');
  if (await objects.create(objectStoreIdKey, Buffer.from(mine))) return mine;
  return (await readObjectStoreId(objects)) ?? mine;
}
