// EC2 as a provider. It keeps no state that a crash could lose: tags and client tokens are its memory.
import type { Provider } from '../provider.ts';
import type { AssumedRole } from './assume-role.ts';
import { createAwsClients } from './clients.ts';
import { describeOwned, listDeployment } from './describe.ts';
import { deleteGroups } from './ingress.ts';
import { defaultUnseenMs, launchInstances } from './launch.ts';
import { readLifetimes } from './lifetimes.ts';
import type { Limiter } from './limiter.ts';
import { readCloudLogs } from './logs.ts';
import { awsOffers } from './offers.ts';
import { deleteResources, listResources } from './resources.ts';
import type { AwsSettings } from './settings.ts';
import { terminateOwned } from './terminate.ts';

export interface AwsProviderOptions {
  settings: AwsSettings;
  /** How long EC2 may take to show a new instance, in milliseconds. Default: two minutes. */
  unseenMs?: number;
  /** Of this account and region, when other callers share it. */
  limiter?: Limiter;
  /** Of another account, in which the provider works; null: the account of the credentials. */
  role?: AssumedRole | null;
}

/** The AWS SDK finds the credentials by itself. */
export function createAwsProvider({
  settings,
  unseenMs = defaultUnseenMs,
  limiter,
  role,
}: AwsProviderOptions): Provider {
  const clients = createAwsClients(settings.region, limiter, role);
  return {
    name: 'aws',
    offers: () => awsOffers(clients, settings),
    launch: (request) => launchInstances(clients, settings, request, unseenMs),
    describe: (owner, ids) => describeOwned(clients, owner, ids),
    lifetimes: (_owner, ids, diskGib) => readLifetimes(clients, settings, ids, diskGib),
    list: (deploymentId) => listDeployment(clients, deploymentId),
    terminate: (owner, ids, signal) => terminateOwned(clients, owner, ids, signal, { unseenMs }),
    listResources: (deploymentId) => listResources(clients, deploymentId),
    deleteResources: (owner, ids, signal) => deleteResources(clients, owner, ids, signal),
    release: (owner, signal) => deleteGroups(clients, owner, signal),
    logs: (query) => readCloudLogs(clients, query),
  };
}
