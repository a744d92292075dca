// What instances with their disks and addresses cost when they are launched: on demand from the dated table, spot from EC2's own
// history; and the charge of an ended spot instance.

import type { InstanceRole } from '../../domain/cluster/state.ts';
import { microsOf, unknownPrice, type InstancePrice } from '../../domain/cost/interval.ts';
import type { Market } from '../../domain/offers/offer.ts';
import { onDemandPrice, pricesOfRegion } from './catalogue.ts';
import type { AwsClients } from './clients.ts';
import { hasPublicAddress, type AwsSettings } from './settings.ts';
import { poolOf, readSpotPrices } from './spot-prices.ts';

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
  const spot =
    types.length === 0 ? null : await readSpotPrices(clients, { types, fromMs: Date.now() }).catch(() => null);
  const listed = `list price of ${region} as of ${pricesOfRegion(region)?.asOf ?? 'now'}`;
  return ({ role, type, zone, market, diskGib }) => {
    const beside = pricesBeside(settings, role, diskGib);
    // EC2 answers from newest to oldest.
    const [current] = market === 'spot' ? (spot?.get(poolOf(type, zone)) ?? []) : [];
    if (current !== undefined) {
      return { microsPerHour: current.microsPerHour, ...beside, source: `spot price of ${zone} at its launch` };
    }
    const dollars = onDemandPrice(region, type);
    if (dollars === null) return { ...unknownPrice, ...beside };
    const source = market === 'spot' ? `${listed}, on demand: no spot price was given` : listed;
    return { microsPerHour: microsOf(dollars), ...beside, source };
  };
}

/** Of its disk and its address. */
export const pricesBeside = (settings: Addresses, role: InstanceRole, diskGib: number) => ({
  diskMicrosPerHour: microsOf((diskGib * diskDollarsPerGibMonth) / hoursPerMonth),
  addressMicrosPerHour: microsOf(addressPrice(settings, role)),
});
