// `ropewalk init`: prepares the database and a Temporal namespace for Ropewalk, adds the first admin, and prints its changes.
// Safe to repeat.
import { readKeysSecret } from '../../platform/keys-location.ts';
import { namespaceOwner } from '../../platform/namespace-claim.ts';
import { readBucket } from '../../platform/objects/location.ts';
import { keyFileIn } from '../../platform/open-keys.ts';
import { enabledProviders, requireSettingsOf, settingsDeployment } from '../../providers/manifests.ts';
import type { Store } from '../../store/store.ts';
import { openDatabase, requireHostFile } from '../database.ts';
import { loadHost } from '../host.ts';
import { prepareKeys } from '../keys.ts';
import { reporting, type Said } from '../report.ts';
import { withTemporal } from '../temporal.ts';
import { requireStoppedApi } from '../running-api.ts';
import { createFirstAdmin, type FirstAdmin, hasUsers } from './first-admin.ts';
import { type Consent, forgetNamespace } from './new-namespace.ts';
import { type Preparation, prepareTemporal, usualSettings } from './prepare.ts';

export interface InitOptions extends Consent {
  env: Record<string, string | undefined>;
  home: string;
  namespace?: string | undefined;
  retentionDays?: number | undefined;
  /** False when the server refuses to add search attributes, and its administrator has added them. */
  searchAttributes: boolean;
  /** False: stuck workflows are reported, and only an operator resets them. */
  autoReset: boolean;
  /** Forgets the namespace in the database, which is lost. */
  newTemporalNamespace: boolean;
  /** Name of the first admin of `workspace`; by default none is added. */
  admin?: string | undefined;
  workspace: string;
  format: 'table' | 'json';
}

/** Returns the exit code. */
export async function runInit(options: InitOptions, said: Said): Promise<number> {
  return reporting(said, async () => {
    const { env, home, admin, workspace } = options;
    await requireHostFile(options);
    const place = { home, keysSecret: readKeysSecret(env) };
    const bucket = readBucket(env);
    const known = await loadHost(home, settingsDeployment({ env, home, hostId: '' }));
    // The same host id as in the API and the Temporal worker: the sweep uses the worker of that host.
    const host = { ...known, hostId: env['ROPEWALK_HOST_ID'] || known.hostId };
    const providers = enabledProviders({ env, home, hostId: host.hostId });
    requireSettingsOf(host.deploymentId, providers);
    const { store, name, isNew } = await openDatabase({ env, home, host });
    try {
      const { deploymentId } = host;
      const changes = isNew ? [`created the tables in ${name}, for deployment ${deploymentId}`] : [];
      const { keys, isNew: areKeysNew } = await prepareKeys(place, {
        ...{ deploymentId, bucket, deployment: store.deployment },
      });
      if (areKeysNew) changes.push(`created the keys in ${keyFileIn(home)}`);
      const prepared = await prepareNamespaceOf(options, { host, providers, store }, said);
      const { wasClaimed, isReplaced, ...temporal } = prepared;
      changes.push(...temporal.changes);
      const first = admin === undefined ? null : await createFirstAdmin(store, keys, { workspace, admin });
      const result = { ...temporal, database: name, deploymentId, hostId: host.hostId, changes };
      if (options.format === 'json') said.json({ ...result, admin: first });
      else await print({ result, first, home, store }, said);
      if (isNew && wasClaimed) said.err(reconcileFirst);
      if (isReplaced) said.err(endsLater);
      return 0;
    } finally {
      await store.close();
    }
  });
}

/** Otherwise the API assigns numbers of existing workflows: such a job or cluster cannot start. */
const reconcileFirst =
  'The database is new, and the namespace is not: start a Temporal worker, run "ropewalk reconcile", then start the API.';

const endsLater =
  'Start the Temporal workers and the API: the next reconciliation, within five minutes, ends the open jobs and clusters; "ropewalk reconcile" does at once.';

interface Prepared {
  address: string;
  namespace: string;
  /** Whether the namespace already belonged to this deployment. */
  wasClaimed: boolean;
  /** Whether another namespace was forgotten. */
  isReplaced: boolean;
  changes: string[];
}

function prepareNamespaceOf(
  options: InitOptions,
  { host, providers, store }: Pick<Preparation, 'host' | 'providers'> & { store: Store },
  said: Said,
): Promise<Prepared> {
  return withTemporal(options, async ({ address, namespace, connection, client }) => {
    const { home, yes, ask } = options;
    const { deployment } = store;
    const forgotten: string[] = [];
    if (options.newTemporalNamespace) {
      await requireStoppedApi(store);
      forgotten.push(...(await forgetNamespace({ client, address, host, home, store, yes, ask, say: said.err })));
    }
    const settings = {
      ...usualSettings,
      retentionDays: options.retentionDays ?? usualSettings.retentionDays,
      searchAttributes: options.searchAttributes ? usualSettings.searchAttributes : [],
      stuckWorkflows: { ...usualSettings.stuckWorkflows, autoReset: options.autoReset },
    };
    const wasClaimed = (await namespaceOwner(client)) !== null;
    const changes = await prepareTemporal({
      ...{ replacesLost: forgotten.length > 0, warn: said.err },
      ...{ connection, client, namespace, host, home, deployment, providers, settings },
    });
    return { address, namespace, wasClaimed, isReplaced: forgotten.length > 0, changes: [...forgotten, ...changes] };
  });
}

interface Result extends Omit<Prepared, 'wasClaimed' | 'isReplaced'> {
  database: string;
  deploymentId: string;
}

async function print(
  { result, first, home, store }: { result: Result; first: FirstAdmin | null; home: string; store: Store },
  said: Said,
): Promise<void> {
  const { address, namespace, database, deploymentId, changes } = result;
  // With --admin the token is the only line on standard output, for TOKEN=$(ropewalk init --admin NAME).
  const line = first === null ? said.out : said.err;
  for (const change of changes) line(change);
  if (changes.length === 0) line('nothing to change');
  line(`namespace ${namespace} at ${address} and ${database} are ready for deployment ${deploymentId} (home ${home})`);
  if (first !== null) printAdmin(first, said);
  else if (!(await hasUsers(store))) {
    said.err('There are no users yet: "ropewalk init --admin NAME" adds the first admin and prints their token.');
  }
}

function printAdmin({ workspace, user, token }: FirstAdmin, said: Said): void {
  if (token === null) {
    said.err(`Workspace ${workspace} has users already: none was added, and no token was made.`);
    said.err(`  An admin of it adds ${user}: ropewalk user set ${user} --role admin`);
    return;
  }
  said.err(`Token of ${user}, the first admin of workspace ${workspace}. It is shown this once: store it safely.`);
  said.out(token);
}
