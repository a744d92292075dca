// The EC2 provider. It keeps no state that a crash could lose: tags and client tokens store it.
import type { Provider } from '../provider.ts';
import type { AssumedRole } from './assume-role.ts';
import { createAwsClients } from './clients.ts';
import { describeOwned, listDeployment } from './describe.ts';
import { deleteGroups } from './ingress.ts';
import { defaultUnseenMs, launchInstances } from './launch.ts';
import { readCharges, readLifetimes } from './lifetimes.ts';
import type { Limiter } from './limiter.ts';
import { readCloudLogs } from './logs.ts';
import { awsOffers } from './offers.ts';
import { deleteResources, listResources } from './resources.ts';
import type { AwsSettings } from './settings.ts';
import { terminateOwned } from './terminate.ts';

export interface AwsProviderOptions {
  settings: AwsSettings;
  /** Maximum delay in milliseconds until EC2 shows a new instance. Default: two minutes. */
  unseenMs?: number;
  /** The shared limiter of this account and region. */
  limiter?: Limiter;
  /** The role of another account to work in; null for the account of the credentials. */
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
    charges: (_owner, ids) => readCharges(clients, ids),
    list: (deploymentId) => listDeployment(clients, deploymentId),
    terminate: (owner, ids, signal) => terminateOwned(clients, owner, ids, signal, { unseenMs }),
    listResources: (deploymentId) => listResources(clients, deploymentId),
    deleteResources: (owner, ids, signal) => deleteResources(clients, owner, ids, signal),
    release: (owner, signal) => deleteGroups(clients, owner, signal),
    logs: (query) => readCloudLogs(clients, query),
  };
}
