// Checks that an object store and this process's keys belong to the deployment of the database. Hosts that share a bucket share
// no home: with other keys a process could open no sealed bundle, and with another bucket a Temporal worker would find no
// specification and end jobs for good. The first process writes the tag; every other one compares it. The tag also has the
// fingerprints of the keys, for a deployment whose database was lost.
import { RopewalkError } from '../domain/errors.ts';
import { compareKeys, type KnownKeys, laterKeys } from '../domain/known-keys.ts';
import { requireOwnKeys } from './foreign-keys.ts';
import type { Keys } from './keys.ts';
import type { Objects } from './objects/objects.ts';

export const deploymentMarkKey = 'deployment/owner.json';

/**
 * `known`: the keys in the database.
 *
 * @throws RopewalkError CONFLICT when the object store or the keys belong to another deployment.
 */
export async function requireDeploymentMark(
  objects: Pick<Objects, 'get' | 'put' | 'create'>,
  { deploymentId, keys, known, where }: { deploymentId: string; keys: Keys; known: KnownKeys | null; where: string },
): Promise<void> {
  const { kid, fingerprint } = keys.current;
  const mine: Mark = { v: 1, deploymentId, keys: [{ kid, fingerprint }] };
  if (await objects.create(deploymentMarkKey, toBytes(mine))) return;
  const mark = parseMark(await objects.get(deploymentMarkKey));
  if (mark.deploymentId !== deploymentId) {
    throw conflict(
      `The objects in ${where} belong to deployment ${mark.deploymentId}; the database belongs to ${deploymentId}.`,
      'Use the database of that deployment, or another bucket or prefix in ROPEWALK_OBJECTS.',
    );
  }
  const later = laterKeys(mark.keys, known) ?? mark.keys;
  const decision = compareKeys(later, keys);
  requireOwnKeys(decision, { deploymentId, recordedIn: markIn(where) });
  // One of two concurrent additions of a key may be lost; the next start writes it.
  const recorded = decision.do === 'record' ? decision.keys : later;
  if (recorded !== mark.keys) await objects.put(deploymentMarkKey, toBytes({ ...mine, keys: recorded }));
}

/** In messages. */
export const markIn = (where: string): string => `${deploymentMarkKey} in ${where}`;

/**
 * The keys that the object store has recorded for this deployment; null when it has none, or is another deployment's.
 * @throws RopewalkError CONFLICT when the mark is damaged.
 */
export async function readMarkedKeys(objects: Pick<Objects, 'get'>, deploymentId: string): Promise<KnownKeys | null> {
  const bytes = await objects.get(deploymentMarkKey);
  if (bytes === null) return null;
  const mark = parseMark(bytes);
  return mark.deploymentId === deploymentId ? mark.keys : null;
}

interface Mark {
  v: 1;
  deploymentId: string;
  keys: KnownKeys;
}

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
  return v === 1 && typeof deploymentId === 'string' && Array.isArray(keys) && keys.every(isKnownKey);
}

function isKnownKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('kid' in value) || !('fingerprint' in value)) return false;
  return typeof value.kid === 'string' && typeof value.fingerprint === 'string';
}

const conflict = (message: string, hint: string) => new RopewalkError({ code: 'CONFLICT', message, hint });
