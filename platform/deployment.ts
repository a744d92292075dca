// Checks that a process's home, object store, keys and Temporal namespace belong to the deployment of its database. With a directory as object
// store, the home holds the store and identifies the deployment; the object store and the database name the keys.
import { join } from 'node:path';

import { RopewalkError } from '../domain/errors.ts';
import { compareKeys, type KeyDecision, type KnownKeys, laterKeys, type OwnKeys } from '../domain/known-keys.ts';
import { requireDeploymentHome } from './deployment-home.ts';
import { markIn, readMarkedKeys, requireDeploymentMark } from './deployment-mark.ts';
import { requireOwnKeys } from './foreign-keys.ts';
import type { Keys } from './keys.ts';
import { type BucketLocation, locationName } from './objects/location.ts';
import { requireObjectStore } from './object-store-id.ts';
import type { Objects } from './objects/objects.ts';
import { requireNamespace } from './temporal-namespace.ts';

export interface DeploymentParts {
  home: string;
  bucket: BucketLocation | null;
  objects: Objects;
  keys: Keys;
  /** The Temporal namespace that the process uses. */
  namespace: string;
}

export interface DeploymentRow {
  deploymentId: string;
  temporalNamespace: string | null;
  keys: KnownKeys | null;
  claims: {
    /** Returns the database's id. */
    claimObjectStore: (id: string) => Promise<string>;
    claimKeys: (own: OwnKeys, marked: KnownKeys | null) => Promise<KeyDecision>;
  };
}

/** @throws RopewalkError CONFLICT, or UNAVAILABLE when the bucket cannot be used. */
export async function requireDeployment(
  { home, bucket, objects, keys, namespace }: DeploymentParts,
  { deploymentId, temporalNamespace, keys: known, claims }: DeploymentRow,
): Promise<void> {
  requireNamespace(namespace, { deploymentId, claimed: temporalNamespace });
  const where = bucket === null ? join(home, 'objects') : locationName(bucket);
  if (bucket === null) await requireDeploymentHome(home, deploymentId);
  // Before the mark is written: a process with wrong keys must not claim an object store.
  const marked = await readMarkedKeys(objects, deploymentId);
  const later = laterKeys(known, marked);
  const recordedIn = later === known ? 'the database' : markIn(where);
  requireOwnKeys(compareKeys(later, keys), { deploymentId, recordedIn });
  await requireDeploymentMark(objects, { deploymentId, keys, known, where });
  await requireObjectStore(objects, { where, deploymentId, claim: (id) => claims.claimObjectStore(id) });
  requireOwnKeys(await claims.claimKeys(keys, marked), { deploymentId, recordedIn: 'the database' });
}

export const noDeployment = (): RopewalkError =>
  new RopewalkError({
    code: 'CONFLICT',
    message: 'The database belongs to no deployment yet.',
    hint: 'Run `ropewalk init`.',
  });
