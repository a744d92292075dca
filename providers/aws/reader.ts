// What the API reads of one region: its offers, remembered for a while, and what agents printed.
import type { LogLine, LogQuery, Offer } from '../provider.ts';
import { pricesAsOf, pricesRegion } from './catalogue.ts';
import { createAwsClients } from './clients.ts';
import { readCloudLogs } from './logs.ts';
import { awsOffers } from './offers.ts';
import type { AwsSettings } from './settings.ts';

export interface AwsReader {
  offers(): Promise<Offer[]>;
  /** Zones with a configured subnet. */
  zones: string[];
  hasGpuDriver: boolean;
  onDemandPrices: { source: string; asOf: string };
  logs: (query: LogQuery) => AsyncIterable<LogLine>;
}

/** Types, zones and prices change slowly; Karpenter asks as often. */
const offersTtlMs = 5 * 60_000;

/** `now` in milliseconds of any clock that does not go back. Credentials come from where the AWS SDK finds them. */
export function createAwsReader(
  { region, subnets, gpuImage }: Pick<AwsSettings, 'region' | 'subnets' | 'gpuImage'>,
  now: () => number = () => performance.now(),
): AwsReader {
  const clients = createAwsClients(region);
  const elsewhere = region === pricesRegion ? '' : `; those of ${region} differ`;
  let known: { atMs: number; offers: Promise<Offer[]> } | null = null;
  return {
    offers() {
      if (known !== null && now() - known.atMs < offersTtlMs) return known.offers;
      const asked = { atMs: now(), offers: awsOffers(clients, { subnets }) };
      known = asked;
      // An error is for this caller alone, not for all of them for five minutes.
      asked.offers.catch(() => {
        if (known === asked) known = null;
      });
      return asked.offers;
    },
    zones: subnets.map(({ zone }) => zone),
    hasGpuDriver: gpuImage !== null,
    onDemandPrices: { source: `a table of ${pricesRegion}${elsewhere}`, asOf: pricesAsOf },
    logs: (query) => readCloudLogs(clients, query),
  };
}
