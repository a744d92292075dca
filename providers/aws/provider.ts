// EC2 as a provider. Like every provider it keeps nothing that a crash could lose: tags and client tokens are the memory.
import type { Provider } from '../provider.ts';
import { listBelongings, removeBelongings } from './resources.ts';
import { createAwsClients } from './clients.ts';
import { describeOwned, listDeployment } from './describe.ts';
import { deleteGroups } from './ingress.ts';
import { defaultUnseenMs, launchInstances } from './launch.ts';
import type { Limiter } from './limiter.ts';
import { readCloudLogs } from './logs.ts';
import { awsOffers } from './offers.ts';
import type { AwsSettings } from './settings.ts';
import { terminateOwned } from './terminate.ts';

export interface AwsProviderOptions {
  settings: AwsSettings;
  /** How long after a launch EC2 may not show an instance yet; two minutes unless given. */
  unseenMs?: number;
  /** Of this account and region, where others call with it too. */
  limiter?: Limiter;
}

/** Credentials come from where the AWS SDK finds them. */
export function createAwsProvider({ settings, unseenMs = defaultUnseenMs, limiter }: AwsProviderOptions): Provider {
  const clients = createAwsClients(settings.region, limiter);
  return {
    name: 'aws',
    offers: () => awsOffers(clients, settings),
    launch: (request) => launchInstances(clients, settings, request, unseenMs),
    describe: (owner, ids) => describeOwned(clients, owner, ids),
    list: (deploymentId) => listDeployment(clients, deploymentId),
    terminate: (owner, ids, signal) => terminateOwned(clients, owner, ids, signal, { unseenMs }),
    listBelongings: (deploymentId) => listBelongings(clients, deploymentId),
    removeBelongings: (owner, ids, signal) => removeBelongings(clients, owner, ids, signal),
    release: (owner, signal) => deleteGroups(clients, owner, signal),
    logs: (query) => readCloudLogs(clients, query),
  };
}
