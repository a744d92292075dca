// Prices of Compute Engine instances with their disks and addresses at launch, from the dated table: the launch API reports
// none.
import { microsOf, unknownPrice, type InstancePrice } from '../../domain/cost/interval.ts';
import type { Market } from '../../domain/offers/offer.ts';
import { attachedGpus, pricesAsOf } from './catalogue.ts';
import { gcpPriceOf } from './custom-types.ts';
import { bootDiskOf, defaultIops, defaultThroughput, iopsFor, parseType } from './machine-types.ts';
import type { GcpSettings } from './settings.ts';

export interface Priced {
  /** As in offers, with its attached GPUs. */
  type: string;
  market: Market;
  diskGib: number;
  /** MB/s, where requested. */
  diskThroughput?: number;
}

/** US dollars per GiB and month of 730 hours in us-central1 (cloud.google.com/compute/disks-image-pricing, 2026-10). */
const diskDollarsPerGibMonth: Readonly<Record<string, number>> = { 'pd-balanced': 0.1, 'hyperdisk-balanced': 0.08 };
/** Per IOPS and MB/s of Hyperdisk beyond the included ones. */
const [dollarsPerIopsMonth, dollarsPerThroughputMonth] = [0.005, 0.04];
const hoursPerMonth = 730;

/** An external IPv4 address in use, US dollars per hour (cloud.google.com/vpc/network-pricing, 2026-10-16). */
const addressDollarsPerHour: Readonly<Record<Market, number>> = { 'on-demand': 0.005, spot: 0.0025 };

/** US dollars per hour. */
export const addressPrices = ({ assignPublicIps }: Pick<GcpSettings, 'assignPublicIps'>): Record<Market, number> =>
  assignPublicIps ? { ...addressDollarsPerHour } : { 'on-demand': 0, spot: 0 };

export function launchPrice(
  settings: Pick<GcpSettings, 'region' | 'assignPublicIps'>,
  { type, market, ...disk }: Priced,
): InstancePrice {
  const { machineType, accelerator } = parseType(type);
  const beside = {
    diskMicrosPerHour: microsOf(diskDollars(machineType, disk) / hoursPerMonth),
    addressMicrosPerHour: microsOf(addressPrices(settings)[market]),
  };
  const spot = market === 'spot' ? gcpPriceOf(settings.region, machineType, 'spot') : null;
  const machine = spot ?? gcpPriceOf(settings.region, machineType, 'on-demand');
  const gpu = accelerator === null ? { onDemand: 0, spot: 0 } : attachedGpus[accelerator.type];
  if (machine === null || gpu === undefined) return { ...unknownPrice, ...beside };
  const dollars = machine + (accelerator?.count ?? 0) * (spot === null ? gpu.onDemand : gpu.spot);
  const noSpot = market === 'spot' ? ', on demand: no spot price is known' : '';
  const source = `list price of ${settings.region} as of ${pricesAsOf}${spot === null ? noSpot : ', spot'}`;
  return { microsPerHour: microsOf(dollars), ...beside, source };
}

/** US dollars per month. */
function diskDollars(machineType: string, disk: Pick<Priced, 'diskGib' | 'diskThroughput'>): number {
  const kind = bootDiskOf(machineType);
  const size = disk.diskGib * (diskDollarsPerGibMonth[kind] ?? 0);
  if (kind !== 'hyperdisk-balanced' || disk.diskThroughput === undefined) return size;
  return (
    size +
    (iopsFor(disk.diskThroughput) - defaultIops) * dollarsPerIopsMonth +
    (disk.diskThroughput - defaultThroughput) * dollarsPerThroughputMonth
  );
}
