// The ids of this machine and of this installation, in $ROPEWALK_HOME/host.json. Created once and never changed: the tags of
// every instance and the database contain the deployment's id.
import { join } from 'node:path';

import { z } from 'zod';

import { readJson, writeJson } from './files.ts';
import { randomId } from '../platform/ids.ts';

const hostFile = z.object({ hostId: z.string(), deploymentId: z.string() });
export type Host = z.infer<typeof hostFile>;

/** `deploymentId`: that of a new home; by default a new one. */
export async function loadHost(home: string, deploymentId = randomId('dep')): Promise<Host> {
  const known = await findHost(home);
  if (known !== null) return known;
  const host: Host = { hostId: randomId('host'), deploymentId };
  await writeJson(hostPath(home), host);
  return host;
}

/** null for a new home. */
export async function findHost(home: string): Promise<Host | null> {
  return readJson(hostPath(home), hostFile);
}

const hostPath = (home: string): string => join(home, 'host.json');
