// What instances with their disks and addresses cost on Compute Engine when they are launched, from the dated table: Google has
// no price for them in the API that launches.
import { microsOf, unknownPrice, type InstancePrice } from '../../domain/cost/interval.ts';
import type { Market } from '../../domain/offers/offer.ts';
import { attachedGpus, priceOf, pricesAsOf } from './catalogue.ts';
import { bootDiskOf, parseType } from './machine-types.ts';
import type { GcpSettings } from './settings.ts';

export interface Priced {
  /** As in offers, with its attached GPUs. */
  type: string;
  market: Market;
  diskGib: number;
}

/** In us-central1: US dollars for each GiB and month of 730 hours (cloud.google.com/compute/disks-image-pricing, 2026-10). */
const diskDollarsPerGibMonth: Readonly<Record<string, number>> = { 'pd-balanced': 0.1, 'hyperdisk-balanced': 0.08 };
const hoursPerMonth = 730;

/** Of an external IPv4 address in use, US dollars an hour (cloud.google.com/vpc/network-pricing, 2026-10-16). */
const addressDollarsPerHour: Readonly<Record<Market, number>> = { 'on-demand': 0.005, spot: 0.0025 };

/** US dollars an hour. */
export const addressPrices = ({ assignPublicIps }: Pick<GcpSettings, 'assignPublicIps'>): Record<Market, number> =>
  assignPublicIps ? { ...addressDollarsPerHour } : { 'on-demand': 0, spot: 0 };

export function launchPrice(
  settings: Pick<GcpSettings, 'region' | 'assignPublicIps'>,
  { type, market, diskGib }: Priced,
): InstancePrice {
  const { machineType, accelerator } = parseType(type);
  const diskDollars = (diskGib * (diskDollarsPerGibMonth[bootDiskOf(machineType)] ?? 0)) / hoursPerMonth;
  const beside = {
    diskMicrosPerHour: microsOf(diskDollars),
    addressMicrosPerHour: microsOf(addressPrices(settings)[market]),
  };
  const machine = priceOf(settings.region, machineType, market);
  const gpu = accelerator === null ? { onDemand: 0, spot: 0 } : attachedGpus[accelerator.type];
  if (machine === null || gpu === undefined) return { ...unknownPrice, ...beside };
  const dollars = machine + (accelerator?.count ?? 0) * (market === 'spot' ? gpu.spot : gpu.onDemand);
  const source = `list price of ${settings.region} as of ${pricesAsOf}${market === 'spot' ? ', spot' : ''}`;
  return { microsPerHour: microsOf(dollars), ...beside, source };
}
