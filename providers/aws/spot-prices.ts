// EC2's history of spot prices: of 90 days, with the last change before the period, which is the price at its beginning.
import { paginateDescribeSpotPriceHistory } from '@aws-sdk/client-ec2';
import type { _InstanceType } from '@aws-sdk/client-ec2';

import { microsOf } from '../../domain/cost/interval.ts';
import type { SpotPrice } from '../../domain/cost/spot-prices.ts';
import type { AwsClients } from './clients.ts';
import { readPages } from './pages.ts';

export const poolOf = (type: string, zone: string): string => `${type}/${zone}`;

export interface SpotPeriod {
  types: string[];
  /** All of the region unless given. */
  zones?: string[];
  /** Until now. */
  fromMs: number;
}

/** By type and zone, from newest to oldest. */
export async function readSpotPrices(
  clients: AwsClients,
  { types, zones, fromMs }: SpotPeriod,
): Promise<Map<string, SpotPrice[]>> {
  const prices = new Map<string, SpotPrice[]>();
  const query = {
    // The SDK lists the types of its release date; EC2 knows more.
    InstanceTypes: types as _InstanceType[],
    ProductDescriptions: ['Linux/UNIX'],
    ...(zones === undefined ? {} : { Filters: [{ Name: 'availability-zone', Values: zones }] }),
    StartTime: new Date(fromMs),
  };
  for await (const page of readPages(clients, paginateDescribeSpotPriceHistory({ client: clients.ec2 }, query))) {
    for (const { InstanceType = '', AvailabilityZone = '', SpotPrice, Timestamp } of page.SpotPriceHistory ?? []) {
      if (Timestamp === undefined) continue;
      const pool = poolOf(InstanceType, AvailabilityZone);
      const price = { atMs: Timestamp.getTime(), microsPerHour: microsOf(Number(SpotPrice)) };
      prices.set(pool, [...(prices.get(pool) ?? []), price]);
    }
  }
  return prices;
}
