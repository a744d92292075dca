// Checks that a process's home, object store, keys and Temporal namespace belong to the deployment of its database. With a directory as object
// store, the home holds both store and keys and identifies the deployment; with a shared bucket, or with external keys, the
// object store identifies it.
import { join } from 'node:path';

import { requireDeploymentHome } from './deployment-home.ts';
import { requireDeploymentMark } from './deployment-mark.ts';
import type { Keys } from './keys.ts';
import { type BucketLocation, locationName } from './objects/location.ts';
import { requireObjectStore } from './object-store-id.ts';
import type { Objects } from './objects/objects.ts';
import { requireNamespace } from './temporal-namespace.ts';

export interface DeploymentParts {
  home: string;
  bucket: BucketLocation | null;
  /** ARN of the keys' secret; null: the keys are in the home. */
  keysSecret: string | null;
  objects: Objects;
  keys: Keys;
  /** The Temporal namespace that the process uses. */
  namespace: string;
}

/** @throws RopewalkError CONFLICT, or UNAVAILABLE when the bucket cannot be used. */
export async function requireDeployment(
  { home, bucket, keysSecret, objects, keys, namespace }: DeploymentParts,
  {
    deploymentId,
    temporalNamespace,
    claimObjectStore,
  }: {
    deploymentId: string;
    temporalNamespace: string | null;
    /** Returns the database's id. */
    claimObjectStore: (id: string) => Promise<string>;
  },
): Promise<void> {
  requireNamespace(namespace, { deploymentId, claimed: temporalNamespace });
  const where = bucket === null ? join(home, 'objects') : locationName(bucket);
  if (bucket === null) await requireDeploymentHome(home, deploymentId);
  if (bucket !== null || keysSecret !== null) await requireDeploymentMark(objects, { deploymentId, keys, where });
  await requireObjectStore(objects, { where, deploymentId, claim: claimObjectStore });
}
