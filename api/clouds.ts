// The clouds that this API may launch on, as services see them: what is on offer, remembered for a while.
import type { Offer } from '../domain/offers/offer.ts';
import type { AwsFile } from '../platform/aws-settings.ts';
import { awsOffers } from '../providers/aws/offers.ts';
import { createAwsClients } from '../providers/aws/clients.ts';
import { readCloudLogs } from '../providers/aws/logs.ts';
import type { LogLine, LogQuery } from '../providers/provider.ts';
import { cloudQueue } from '../workflows/messages.ts';
import type { Clouds } from './services/machines.ts';

/** Types, zones and prices change slowly; Karpenter asks as often. */
const offersTtlMs = 5 * 60_000;

export interface AwsReading {
  clouds: Clouds;
  logs(query: LogQuery): AsyncIterable<LogLine>;
}

/** What the API itself asks of AWS: reading only. */
export function readAws(file: AwsFile, preferred: Clouds['preferred'], now: () => number): AwsReading {
  const clients = createAwsClients(file.region);
  let known: { atMs: number; offers: Promise<Offer[]> } | null = null;
  const offers = (): Promise<Offer[]> => {
    if (known !== null && now() - known.atMs < offersTtlMs) return known.offers;
    const asked = { atMs: now(), offers: awsOffers(clients, file) };
    known = asked;
    // An error is the asker's, not everybody's for five minutes.
    asked.offers.catch(() => {
      if (known === asked) known = null;
    });
    return asked.offers;
  };
  const zones = file.subnets.map(({ zone }) => zone);
  return {
    clouds: { preferred, aws: { offers, zones, queue: cloudQueue('aws') } },
    logs: (query) => readCloudLogs(clients, query),
  };
}
