// The database of records of an installation: its location and its deployment. Opened before Temporal is used: a refused start
// must change nothing there.
import { join } from 'node:path';

import { RopewalkError } from '../domain/errors.ts';
import { exists } from '../providers/local/files.ts';
import { openStore } from '../store/open.ts';
import type { DeploymentStore } from '../store/deployment-port.ts';
import type { Store } from '../store/store.ts';
import { findHost, type Host } from './host.ts';

type Env = Record<string, string | undefined>;

export interface DatabasePlace {
  /** PostgreSQL's URL; null: SQLite in `file`. It contains a password: errors and lists show `databaseName` instead. */
  url: string | null;
  file: string;
}

export const databasePlace = (env: Env, home: string): DatabasePlace => ({
  url: env['ROPEWALK_DATABASE_URL'] || null,
  file: join(home, 'ropewalk.db'),
});

/** Display name, without user and password. */
export function databaseName({ url, file }: DatabasePlace): string {
  if (url === null) return file;
  if (!URL.canParse(url)) return 'the database of ROPEWALK_DATABASE_URL';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

export interface OpenedDatabase {
  store: Store;
  name: string;
  /** The database was empty, and now belongs to this deployment. */
  isNew: boolean;
}

/**
 * Creates or updates the tables and claims the database for this deployment.
 *
 * @throws RopewalkError CONFLICT when it belongs to another deployment or is newer than this code, UNAVAILABLE when it
 * cannot be reached.
 */
export async function openDatabase(options: { env: Env; home: string; host: Host }): Promise<OpenedDatabase> {
  const { env, home, host } = options;
  const place = databasePlace(env, home);
  const name = databaseName(place);
  const store = await openStore({ ...place, migrate: true });
  try {
    const { deploymentId, isNew } = await store.deployment.claim(host.deploymentId, Date.now());
    if (deploymentId !== host.deploymentId) throw foreignDatabase(name, deploymentId, options);
    return { store, name, isNew };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Refuses to create a new id for a home without host.json when the database has a deployment: `ropewalk destroy` would then
 * search for the instances of a deployment that has none.
 *
 * @throws RopewalkError CONFLICT
 */
export async function requireHostFile({ env, home }: { env: Env; home: string }): Promise<void> {
  if ((await findHost(home)) !== null) return;
  const place = databasePlace(env, home);
  const owner = (await readDeployment(place))?.deploymentId;
  if (owner === undefined) return;
  throw new RopewalkError({
    code: 'CONFLICT',
    message: `${databaseName(place)} belongs to deployment ${owner}, and ${home} has no host.json; nothing was changed`,
    hint: `Copy host.json and keys.json of a host of ${owner} into ${home}, or name another database in ROPEWALK_DATABASE_URL.`,
  });
}

/** Null also for a database that cannot be read as it is, because it is empty or has another schema version. */
export async function readDeployment(place: DatabasePlace): ReturnType<DeploymentStore['read']> {
  if (place.url === null && !(await exists(place.file))) return null;
  try {
    const store = await openStore({ ...place, migrate: false });
    try {
      return await store.deployment.read();
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof RopewalkError) return null;
    throw error;
  }
}

const foreignDatabase = (name: string, found: string, { home, host }: { home: string; host: Host }): RopewalkError =>
  new RopewalkError({
    code: 'CONFLICT',
    message: `${name} belongs to deployment ${found}, and ${home} to deployment ${host.deploymentId}; nothing was started`,
    hint: `Use the home of ${found} (its host.json), or another database: ROPEWALK_DATABASE_URL, or move the file away.`,
  });
