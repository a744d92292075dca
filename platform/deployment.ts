// Whether what a process was given belongs to the deployment of its database. With a directory as object store the home holds both
// store and keys, and says whose it is; with a bucket, which hosts share, or with keys from elsewhere, the object store says it.
import { join } from 'node:path';

import { requireDeploymentHome } from './deployment-home.ts';
import { requireDeploymentMark } from './deployment-mark.ts';
import type { Keys } from './keys.ts';
import { type BucketLocation, locationName } from './objects/location.ts';
import { requireObjectStore } from './object-store-id.ts';
import type { Objects } from './objects/objects.ts';

export interface DeploymentParts {
  home: string;
  bucket: BucketLocation | null;
  /** ARN of the secret that holds the keys; null: they are in the home. */
  keysSecret: string | null;
  objects: Objects;
  keys: Keys;
}

/** @throws RopewalkError CONFLICT, or UNAVAILABLE when the bucket cannot be used. */
export async function requireDeployment(
  { home, bucket, keysSecret, objects, keys }: DeploymentParts,
  {
    deploymentId,
    claimObjectStore,
  }: {
    deploymentId: string;
    /** Answers the id that the database has. */
    claimObjectStore: (id: string) => Promise<string>;
  },
): Promise<void> {
  const where = bucket === null ? join(home, 'objects') : locationName(bucket);
  if (bucket === null) await requireDeploymentHome(home, deploymentId);
  if (bucket !== null || keysSecret !== null) await requireDeploymentMark(objects, { deploymentId, keys, where });
  await requireObjectStore(objects, { where, deploymentId, claim: claimObjectStore });
}
