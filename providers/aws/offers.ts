// The offers of EC2 in a region, from its own APIs: types, their zones, spot prices. On-demand prices have an API only in three
// regions and come from the dated table; a type missing there is offered with an unknown price. Without AWS credentials, only
// the tables are used.
import {
  paginateDescribeInstanceTypeOfferings,
  paginateDescribeInstanceTypes,
  paginateDescribeSpotPriceHistory,
} from '@aws-sdk/client-ec2';
import type { InstanceTypeInfo } from '@aws-sdk/client-ec2';

import type { Offer } from '../provider.ts';
import { catalogueOffers, onDemandPrice } from './catalogue.ts';
import type { AwsClients } from './clients.ts';
import { classify } from './errors.ts';
import { readPages } from './pages.ts';
import { codeOf, isAnswer, messageOf } from './sdk-errors.ts';
import type { AwsSettings } from './settings.ts';

type OffersSettings = Pick<AwsSettings, 'region' | 'subnets'>;

const mib = 1024 * 1024;

/** Every type in every zone of the configuration, on demand and spot. */
export async function awsOffers(clients: AwsClients, settings: OffersSettings): Promise<Offer[]> {
  try {
    return await offersOfRegion(clients, settings);
  } catch (error) {
    // Falls back to the table without credentials, or without the permission to read offers.
    const isForbidden = !isAnswer(error) || classify(codeOf(error), messageOf(error)).scope === 'account';
    if (!isForbidden) throw error;
    return catalogueOffers(
      settings.region,
      settings.subnets.map(({ zone }) => zone),
    );
  }
}

async function offersOfRegion(clients: AwsClients, settings: OffersSettings): Promise<Offer[]> {
  const [types, zonesByType, spotPrices] = await Promise.all([
    describeTypes(clients),
    describeZones(clients),
    describeSpotPrices(clients),
  ]);
  const configured = new Set(settings.subnets.map(({ zone }) => zone));
  return types.flatMap((info) => {
    const type = info.InstanceType ?? '';
    const zones = (zonesByType.get(type) ?? []).filter((zone) => configured.has(zone));
    return zones.flatMap((zone) =>
      offersOf(info, zone, {
        onDemand: onDemandPrice(settings.region, type),
        spot: spotPrices.get(`${type}/${zone}`) ?? null,
      }),
    );
  });
}

function offersOf(
  info: InstanceTypeInfo,
  zone: string,
  prices: { onDemand: number | null; spot: number | null },
): Offer[] {
  const type = info.InstanceType ?? '';
  const shape = {
    type,
    zone,
    vcpus: info.VCpuInfo?.DefaultVCpus ?? 0,
    memoryBytes: (info.MemoryInfo?.SizeInMiB ?? 0) * mib,
    architecture:
      info.ProcessorInfo?.SupportedArchitectures?.includes('arm64') === true ? ('arm64' as const) : ('x86_64' as const),
    gpus: (info.GpuInfo?.Gpus ?? []).reduce((sum, gpu) => sum + (gpu.Count ?? 0), 0),
    gpuName: info.GpuInfo?.Gpus?.[0]?.Name ?? null,
  };
  const classes = info.SupportedUsageClasses ?? [];
  return [
    ...(classes.includes('on-demand')
      ? [{ ...shape, market: 'on-demand' as const, pricePerHour: prices.onDemand }]
      : []),
    // A type without a spot price was not on the spot market for three months.
    ...(classes.includes('spot') && prices.spot !== null
      ? [{ ...shape, market: 'spot' as const, pricePerHour: prices.spot }]
      : []),
  ];
}

async function describeTypes(clients: AwsClients): Promise<InstanceTypeInfo[]> {
  const found: InstanceTypeInfo[] = [];
  const Filters = [{ Name: 'processor-info.supported-architecture', Values: ['x86_64', 'arm64'] }];
  const pages = paginateDescribeInstanceTypes({ client: clients.ec2, pageSize: 100 }, { Filters });
  for await (const page of readPages(clients, pages)) {
    found.push(...(page.InstanceTypes ?? []).filter((info) => info.BareMetal !== true));
  }
  return found;
}

async function describeZones(clients: AwsClients): Promise<Map<string, string[]>> {
  const zones = new Map<string, string[]>();
  const query = { LocationType: 'availability-zone' as const };
  const pages = paginateDescribeInstanceTypeOfferings({ client: clients.ec2, pageSize: 1_000 }, query);
  for await (const page of readPages(clients, pages)) {
    for (const { InstanceType = '', Location = '' } of page.InstanceTypeOfferings ?? []) {
      zones.set(InstanceType, [...(zones.get(InstanceType) ?? []), Location]);
    }
  }
  return zones;
}

/** The newest price of each type in each zone: without a time range EC2 returns the newest first. */
async function describeSpotPrices(clients: AwsClients): Promise<Map<string, number>> {
  const prices = new Map<string, number>();
  const query = { ProductDescriptions: ['Linux/UNIX'], StartTime: new Date() };
  const pages = paginateDescribeSpotPriceHistory({ client: clients.ec2, pageSize: 1_000 }, query);
  for await (const page of readPages(clients, pages)) {
    for (const { InstanceType, AvailabilityZone, SpotPrice } of page.SpotPriceHistory ?? []) {
      const key = `${InstanceType}/${AvailabilityZone}`;
      if (!prices.has(key)) prices.set(key, Number(SpotPrice));
    }
  }
  return prices;
}
