// Checks that a home belongs to the deployment of the database. Another home has other keys and another object store: a
// Temporal worker would take tasks without their specifications, and end their jobs for good.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { RopewalkError } from '../domain/errors.ts';

/** @throws RopewalkError CONFLICT when the home's host.json is missing or names another deployment. */
export async function requireDeploymentHome(home: string, deploymentId: string): Promise<void> {
  const found = await readDeployment(join(home, 'host.json'));
  if (found === deploymentId) return;
  const whose = found === null ? 'has no host.json' : `belongs to deployment ${found}`;
  throw new RopewalkError({
    code: 'CONFLICT',
    message: `ROPEWALK_HOME is ${home}, which ${whose}; the database belongs to deployment ${deploymentId}.`,
    hint: 'Use the home, or a mount of the directory, in which `ropewalk init` was run: keys and object store are there.',
  });
}

async function readDeployment(path: string): Promise<string | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    const isHost = typeof value === 'object' && value !== null && 'deploymentId' in value;
    return isHost && typeof value.deploymentId === 'string' ? value.deploymentId : null;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
