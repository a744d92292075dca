// Checks that an object store and this process's keys belong to the deployment of the database. Hosts that share a bucket share
// no home: with other keys a process could open no sealed bundle, and with another bucket a Temporal worker would find no
// specification and end jobs for good. The first process writes the tag; every other one compares it.
import { RopewalkError } from '../domain/errors.ts';
import type { Keys, KeySet } from './keys.ts';
import type { Objects } from './objects/objects.ts';

export const deploymentMarkKey = 'deployment/owner.json';

/** @throws RopewalkError CONFLICT when the object store or the keys belong to another deployment. */
export async function requireDeploymentMark(
  objects: Pick<Objects, 'get' | 'put' | 'create'>,
  { deploymentId, keys, where }: { deploymentId: string; keys: Keys; where: string },
): Promise<void> {
  const mine: Mark = { v: 1, deploymentId, keys: { [keys.current.kid]: keys.current.fingerprint } };
  if (await objects.create(deploymentMarkKey, toBytes(mine))) return;
  const mark = parseMark(await objects.get(deploymentMarkKey));
  if (mark.deploymentId !== deploymentId) {
    throw conflict(
      `The objects in ${where} belong to deployment ${mark.deploymentId}; the database belongs to ${deploymentId}.`,
      'Use the database of that deployment, or another bucket or prefix in ROPEWALK_OBJECTS.',
    );
  }
  const known = Object.entries(mark.keys).map(([kid, fingerprint]) => isSame(keys.byKid(kid), fingerprint));
  if (!known.includes(true) || known.includes(false)) {
    throw conflict(
      `The keys of this process are not those of deployment ${deploymentId}.`,
      'Use the keys.json of a host that runs, or the secret that it has in ROPEWALK_KEYS_SECRET: sealed objects open with those keys only.',
    );
  }
  if (mark.keys[keys.current.kid] !== undefined) return;
  // A key was added. One of two concurrent additions may be lost; the next start writes it.
  await objects.put(deploymentMarkKey, toBytes({ ...mine, keys: { ...mark.keys, ...mine.keys } }));
}

interface Mark {
  v: 1;
  deploymentId: string;
  /** Maps a key id to its fingerprint. */
  keys: Record<string, string>;
}

/** null: this host lacks the key, for example because it was removed after a rotation. */
const isSame = (set: KeySet | null, fingerprint: string): boolean | null =>
  set === null ? null : set.fingerprint === fingerprint;

const toBytes = (mark: Mark): Uint8Array => Buffer.from(JSON.stringify(mark));

function parseMark(bytes: Uint8Array | null): Mark {
  const value: unknown = bytes === null ? null : JSON.parse(Buffer.from(bytes).toString('utf8'));
  if (isMark(value)) return value;
  throw conflict(
    `The object ${deploymentMarkKey} is damaged.`,
    'Restore it from a backup of the bucket, or delete it: the next process that starts writes it.',
  );
}

function isMark(value: unknown): value is Mark {
  if (typeof value !== 'object' || value === null) return false;
  const { v, deploymentId, keys }: Partial<Record<keyof Mark, unknown>> = value;
  return v === 1 && typeof deploymentId === 'string' && typeof keys === 'object' && keys !== null;
}

const conflict = (message: string, hint: string) => new RopewalkError({ code: 'CONFLICT', message, hint });
