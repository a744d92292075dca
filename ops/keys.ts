// The keys of a deployment for `ropewalk init` and `ropewalk dev`: the only commands that create them, and only for a deployment that
// has recorded none.
import { join } from 'node:path';

import { RopewalkError } from '../domain/errors.ts';
import { compareKeys, type KnownKeys, laterKeys } from '../domain/known-keys.ts';
import { markIn, readMarkedKeys } from '../platform/deployment-mark.ts';
import { requireOwnKeys } from '../platform/foreign-keys.ts';
import { createKeys, type Keys } from '../platform/keys.ts';
import { type BucketLocation, locationName } from '../platform/objects/location.ts';
import { openObjects } from '../platform/objects/open.ts';
import { keyFileIn, type KeysPlace, readKeys, restoreKeys } from '../platform/open-keys.ts';
import type { DeploymentStore } from '../store/deployment-port.ts';

export interface KeysOwner {
  deploymentId: string;
  deployment: Pick<DeploymentStore, 'read' | 'claimKeys'>;
  /** null: the object store is a directory in the home. */
  bucket: BucketLocation | null;
}

/**
 * Reads the keys, or creates them for a new deployment, and records their fingerprints in the database.
 *
 * @throws RopewalkError CONFLICT when the deployment has keys and these are missing or different; nothing was created.
 */
export async function prepareKeys(
  place: KeysPlace,
  { deploymentId, deployment, bucket }: KeysOwner,
): Promise<{ keys: Keys; isNew: boolean }> {
  const found = await readKeys(place);
  const recorded = await recordedKeys(place.home, { deploymentId, deployment, bucket }, found);
  if (found === null && recorded !== null) throw missingKeys(keyFileIn(place.home), deploymentId, recorded.recordedIn);
  // Read again by `createKeys`: another process may have been first.
  const keys = found ?? (await createKeys(keyFileIn(place.home)));
  if (recorded !== null) requireOwnKeys(compareKeys(recorded.known, keys), { deploymentId, ...recorded });
  requireOwnKeys(await deployment.claimKeys(keys, recorded?.known), { deploymentId, recordedIn: 'the database' });
  return { keys, isNew: found === null };
}

/** The object store has recorded the keys too: for a database that is new, because an earlier one was lost, or restored from an older backup. */
async function recordedKeys(
  home: string,
  { deploymentId, deployment, bucket }: KeysOwner,
  found: Keys | null,
): Promise<{ known: KnownKeys; recordedIn: string } | null> {
  const known = (await deployment.read())?.keys ?? null;
  const inDatabase = known === null ? null : { known, recordedIn: 'the database' };
  if (known !== null && (found === null || compareKeys(known, found).do !== 'refuse')) return inDatabase;
  const marked = await readMarkedKeys(await openObjects({ bucket, home }), deploymentId);
  const later = laterKeys(known, marked);
  if (later === known) return inDatabase;
  const where = bucket === null ? join(home, 'objects') : locationName(bucket);
  return later === null ? null : { known: later, recordedIn: markIn(where) };
}

const missingKeys = (path: string, deploymentId: string, recordedIn: string): RopewalkError =>
  new RopewalkError({
    code: 'CONFLICT',
    message: `${path} is missing, and deployment ${deploymentId} has keys (their fingerprints are in ${recordedIn}); none were created`,
    hint: `API tokens and sealed data work only with the deployment's keys: ${restoreKeys}`,
  });
