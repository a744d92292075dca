// Prices of instances with their disks and addresses at launch: on demand from the dated table, spot from EC2's price history.
import { paginateDescribeSpotPriceHistory } from '@aws-sdk/client-ec2';
import type { _InstanceType } from '@aws-sdk/client-ec2';

import type { InstanceRole } from '../../domain/cluster/state.ts';
import { microsOf, unknownPrice, type InstancePrice } from '../../domain/cost/interval.ts';
import type { Market } from '../../domain/offers/offer.ts';
import { onDemandPrice, pricesOfRegion } from './catalogue.ts';
import type { AwsClients } from './clients.ts';
import { readPages } from './pages.ts';
import { hasPublicAddress, type AwsSettings } from './settings.ts';

export interface Priced {
  role: InstanceRole;
  type: string;
  zone: string;
  market: Market;
  diskGib: number;
}

/** gp3 in us-east-1: US dollars per GiB and month of 730 hours (aws.amazon.com/ebs/pricing, 2026-10). */
const diskDollarsPerGibMonth = 0.08;
const hoursPerMonth = 730;

/** A public IPv4 address in use, in every region since 2024-02-01 (aws.amazon.com/vpc/pricing, 2026-09). */
const addressDollarsPerHour = 0.005;

type Addresses = Pick<AwsSettings, 'assignPublicIps' | 'workerSubnets'>;

/** US dollars per hour. */
export const addressPrice = (settings: Addresses, role: InstanceRole): number =>
  hasPublicAddress(settings, role) ? addressDollarsPerHour : 0;

/**
 * Never rejects: without the spot price history, a spot instance is priced on demand, which is never less, and its source
 * states that.
 */
export async function pricesOf(
  clients: AwsClients,
  settings: Addresses & Pick<AwsSettings, 'region'>,
  wanted: readonly Priced[],
): Promise<(one: Priced) => InstancePrice> {
  const { region } = settings;
  const types = [...new Set(wanted.filter(({ market }) => market === 'spot').map(({ type }) => type))];
  const spot = types.length === 0 ? new Map<string, number>() : await spotPrices(clients, types).catch(() => null);
  const listed = `list price of ${region} as of ${pricesOfRegion(region)?.asOf ?? 'now'}`;
  return ({ role, type, zone, market, diskGib }) => {
    const beside = {
      diskMicrosPerHour: microsOf((diskGib * diskDollarsPerGibMonth) / hoursPerMonth),
      addressMicrosPerHour: microsOf(addressPrice(settings, role)),
    };
    const current = market === 'spot' ? spot?.get(`${type}/${zone}`) : undefined;
    if (current !== undefined) {
      return { microsPerHour: microsOf(current), ...beside, source: `spot price of ${zone} at its launch` };
    }
    const dollars = onDemandPrice(region, type);
    if (dollars === null) return { ...unknownPrice, ...beside };
    const source = market === 'spot' ? `${listed}, on demand: no spot price was given` : listed;
    return { microsPerHour: microsOf(dollars), ...beside, source };
  };
}

/** The newest price of each type and zone: EC2 returns the newest first. */
async function spotPrices(clients: AwsClients, types: string[]): Promise<Map<string, number>> {
  const prices = new Map<string, number>();
  const query = {
    // The SDK lists the types of its release date; EC2 knows more.
    InstanceTypes: types as _InstanceType[],
    ProductDescriptions: ['Linux/UNIX'],
    StartTime: new Date(),
  };
  for await (const page of readPages(clients, paginateDescribeSpotPriceHistory({ client: clients.ec2 }, query))) {
    for (const { InstanceType, AvailabilityZone, SpotPrice } of page.SpotPriceHistory ?? []) {
      const key = `${InstanceType}/${AvailabilityZone}`;
      if (!prices.has(key)) prices.set(key, Number(SpotPrice));
    }
  }
  return prices;
}
