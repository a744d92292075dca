// Opens the API's database, which must exist with the tables of this version; `ropewalk init` and `ropewalk dev` create them.
import { join } from 'node:path';

import type { Logger } from 'pino';

import { RopewalkError } from '../domain/errors.ts';
import { noDeployment, requireDeployment, type DeploymentParts } from '../platform/deployment.ts';
import type { NamespaceClaim } from '../platform/namespace-claim.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { Settings } from './settings.ts';

/** Ends the process when the database cannot be used; its supervisor restarts it. */
export async function openDatabase(
  { databaseUrl, home }: Pick<Settings, 'databaseUrl' | 'home'>,
  parts: DeploymentParts,
  logger: Logger,
): Promise<{ store: Store; deployment: NamespaceClaim }> {
  try {
    const store = await openStore({ url: databaseUrl, file: join(home, 'ropewalk.db'), migrate: false });
    const deployment = await store.deployment.read();
    if (deployment !== null) {
      await requireDeployment(parts, { ...deployment, claims: store.deployment });
      return { store, deployment };
    }
    await store.close();
    throw noDeployment();
  } catch (error) {
    const hint = error instanceof RopewalkError ? error.problem.hint : undefined;
    logger.fatal({ err: error, ...(hint === undefined ? {} : { hint }) }, 'the API cannot use its database');
    process.exit(1);
  }
}
