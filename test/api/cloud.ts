// The API in memory with a cloud: its offers are the dated table of EC2, with spot at a third of the price.
import type { IngressPolicy } from '../../domain/cluster/capacity/ingress-policy.ts';
import type { WebBundle } from '../../api/routes/web.ts';
import { catalogueOffers } from '../../providers/aws/catalogue.ts';
import { testCloud, testHost } from './providers.ts';
import { createTestApi } from './support.ts';

export const zones = ['us-east-1a', 'us-east-1b'];

const onDemand = catalogueOffers('us-east-1', zones);
const offers = [
  ...onDemand,
  ...onDemand.map((offer) => ({
    ...offer,
    market: 'spot' as const,
    pricePerHour: (offer.pricePerHour ?? Number.NaN) / 3,
  })),
];

const aws = {
  region: 'us-east-1',
  offers: () => Promise.resolve(offers),
  zones,
  queue: 'provider/aws/us-east-1',
};

/** EC2 by default, and this machine by name; reversed with `preferred: 'local'`. */
export const cloudApi = (
  preferred: 'local' | 'aws' = 'aws',
  {
    hasGpuDriver = false,
    web = null,
    ingressPolicy = 'any',
    allowPrivateWebhooks = false,
  }: {
    allowPrivateWebhooks?: boolean;
    hasGpuDriver?: boolean;
    web?: WebBundle | null;
    ingressPolicy?: IngressPolicy;
  } = {},
) => {
  const [cloud, host] = [testCloud({ places: [{ ...aws, hasGpuDriver }] }), testHost()];
  return createTestApi({
    web,
    ingressPolicy,
    allowPrivateWebhooks,
    providers: preferred === 'aws' ? [cloud, host] : [host, cloud],
  });
};
