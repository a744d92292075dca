// The API's view of one region: its cached offers, and agents' logs.
import type { InstanceRole } from '../../domain/cluster/state.ts';
import type { AddressPrices } from '../../domain/offers/plan.ts';
import type { LogLine, LogQuery, Offer } from '../provider.ts';
import { rememberOffers } from '../remembered-offers.ts';
import type { AssumedRole } from './assume-role.ts';
import { pricesOfRegion } from './catalogue.ts';
import { createAwsClients } from './clients.ts';
import { readCloudLogs } from './logs.ts';
import { awsOffers } from './offers.ts';
import { addressPrice } from './prices.ts';
import type { AwsSettings } from './settings.ts';

export interface AwsReader {
  offers(): Promise<Offer[]>;
  /** Zones with a configured subnet. */
  zones: string[];
  hasGpuDriver: boolean;
  onDemandPrices: { source: string; asOf: string } | null;
  addressPrices: AddressPrices;
  logs: (query: LogQuery) => AsyncIterable<LogLine>;
}

export type ReaderSettings = Pick<
  AwsSettings,
  'region' | 'subnets' | 'gpuImage' | 'assignPublicIps' | 'workerSubnets'
> & {
  /** Maps a workspace to its own account, which holds its logs. */
  workspaceAccounts?: Readonly<Record<string, AssumedRole>>;
};

/** `now` returns milliseconds of any monotonic clock. The AWS SDK finds the credentials. */
export function createAwsReader(
  { region, subnets, gpuImage, workspaceAccounts = {}, ...network }: ReaderSettings,
  now?: () => number,
): AwsReader {
  const clients = createAwsClients(region);
  const accounts = new Map(
    Object.entries(workspaceAccounts).map(([workspace, role]) => [
      workspace,
      createAwsClients(region, undefined, role),
    ]),
  );
  const addressPrices = (role: InstanceRole) => {
    const price = addressPrice(network, role);
    return { 'on-demand': price, spot: price };
  };
  return {
    offers: rememberOffers(() => awsOffers(clients, { region, subnets }), now),
    zones: subnets.map(({ zone }) => zone),
    hasGpuDriver: gpuImage !== null,
    onDemandPrices: pricesOfRegion(region),
    addressPrices: { head: addressPrices('head'), worker: addressPrices('worker') },
    logs: (query) => readCloudLogs(accounts.get(query.owner.workspace) ?? clients, query),
  };
}
