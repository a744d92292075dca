// The API in memory before a cloud: what is on offer is the dated table of EC2, and spot at a third of it.
import { catalogueOffers } from '../../providers/aws/catalogue.ts';
import { createTestApi } from './support.ts';

export const zones = ['us-east-1a', 'us-east-1b'];
export const onDemandPrices = { source: 'a table', asOf: '2026-07-20' };

const onDemand = catalogueOffers(zones);
const offers = [
  ...onDemand,
  ...onDemand.map((offer) => ({ ...offer, market: 'spot' as const, pricePerHour: offer.pricePerHour / 3 })),
];

const aws = {
  region: 'us-east-1',
  offers: () => Promise.resolve(offers),
  zones,
  queue: 'provider/aws',
  onDemandPrices,
};

export const cloudApi = (preferred: 'local' | 'aws' = 'aws') =>
  createTestApi({ clouds: { preferred, aws, regions: new Map([[aws.region, aws]]) } });
