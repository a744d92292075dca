// The Compute Engine provider. It keeps no state that a crash could lose: labels, names and operations store it.
import type { Provider } from '../provider.ts';
import { createGcpClients } from './clients.ts';
import { describeOwned, listDeployment } from './describe.ts';
import { deleteRules } from './ingress.ts';
import { launchInstances } from './launch.ts';
import { readCloudLogs } from './logs.ts';
import { gcpOffers } from './offers.ts';
import { deleteResources, listResources } from './resources.ts';
import type { GcpAccess, GcpSettings } from './settings.ts';
import { terminateOwned } from './terminate.ts';

export interface GcpProviderOptions {
  settings: GcpSettings;
  access: GcpAccess;
  /** Maximum delay in milliseconds until lists show a new instance or operation. Default: one minute. */
  unseenMs?: number;
}

/** Google's library finds the credentials by itself. */
export function createGcpProvider({ settings, access, unseenMs = 60_000 }: GcpProviderOptions): Provider {
  const clients = createGcpClients(settings, access);
  return {
    name: 'gcp',
    offers: () => gcpOffers(clients, settings),
    launch: (request) => launchInstances(clients, settings, request, unseenMs),
    describe: (owner, ids) => describeOwned(clients, owner, ids),
    list: (deploymentId) => listDeployment(clients, deploymentId),
    terminate: (owner, ids, signal) => terminateOwned(clients, owner, ids, signal, { unseenMs }),
    listResources: (deploymentId) => listResources(clients, deploymentId),
    deleteResources: (owner, ids, signal) => deleteResources(clients, owner, ids, signal),
    release: (owner) => deleteRules(clients, owner),
    logs: (query) => readCloudLogs(clients, query),
  };
}
