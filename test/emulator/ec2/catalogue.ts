// The catalogue of a region: zones, subnets, types and their prices.
import { AwsError } from '../aws-error.ts';
import { instanceTypes, priceOf } from '../types.ts';
import type { InstanceType } from '../types.ts';
import type { Xml } from '../xml.ts';
import { matches, page } from './call.ts';
import type { Operation } from './call.ts';

export const describeRegions: Operation = ({ account, region }) => {
  const names = new Set([region.name, ...account.regions().map(({ name }) => name)]);
  return { regionInfo: [...names].map((regionName) => ({ regionName, optInStatus: 'opt-in-not-required' })) };
};

export const describeAvailabilityZones: Operation = ({ region }) => ({
  availabilityZoneInfo: region.zones.map((zoneName, at) => ({
    zoneName,
    zoneId: `use1-az${at + 1}`,
    zoneState: region.zonesDown.has(zoneName) ? 'impaired' : 'available',
    regionName: region.name,
    zoneType: 'availability-zone',
    optInStatus: 'opt-in-not-required',
  })),
});

export const describeInstanceTypes: Operation = (call) => {
  const names = call.params.texts('InstanceType');
  const unknown = names.filter((name) => !instanceTypes.has(name));
  if (unknown.length > 0) {
    throw new AwsError(
      'InvalidInstanceType',
      `The following supplied instance types do not exist: [${unknown.join(', ')}]`,
    );
  }
  if (names.length > 0 && call.params.text('MaxResults') !== null) {
    throw new AwsError('InvalidParameterCombination', 'MaxResults and InstanceTypes do not go together.');
  }
  const found = [...instanceTypes.values()].filter(
    (type) =>
      (names.length === 0 || names.includes(type.name)) &&
      matches(call, (name) => {
        if (name === 'instance-type') return [type.name];
        return name === 'processor-info.supported-architecture' ? [type.arch] : null;
      }),
  );
  const { items, nextToken } = page(call, found, 100);
  return { instanceTypeSet: items.map(shownType), nextToken };
};

/** Every type in every zone, except GPUs, which the last zone does not have. */
export const describeInstanceTypeOfferings: Operation = (call) => {
  const kind = call.params.text('LocationType');
  if (kind !== null && !['region', 'availability-zone', 'availability-zone-id', 'outpost'].includes(kind))
    throw new AwsError('InvalidParameterValue', `Value (${kind}) for parameter locationType is invalid.`);
  const places = call.params.text('LocationType') === 'availability-zone' ? call.region.zones : [call.region.name];
  const last = call.region.zones.at(-1);
  const all = places.flatMap((location) =>
    [...instanceTypes.values()]
      .filter((type) => type.gpus === 0 || location !== last)
      .map((type) => ({ instanceType: type.name, location })),
  );
  const found = all.filter((offering) =>
    matches(call, (name) => {
      if (name === 'instance-type') return [offering.instanceType];
      return name === 'location' ? [offering.location] : null;
    }),
  );
  const { items, nextToken } = page(call, found);
  return {
    instanceTypeOfferingSet: items.map((offering) => ({
      ...offering,
      locationType: call.params.text('LocationType') ?? 'region',
    })),
    nextToken,
  };
};

/** From newest to oldest: the changes since StartTime, and the last change before it. */
export const describeSpotPriceHistory: Operation = (call) => {
  const names = call.params.texts('InstanceType');
  const startMs = Date.parse(call.params.text('StartTime') ?? new Date(call.nowMs).toISOString());
  const zones = call.region.zones.filter((zone) =>
    matches(call, (name) => (name === 'availability-zone' ? [zone] : null)),
  );
  const rows = zones.flatMap((zone) =>
    [...instanceTypes.values()]
      .filter((type) => names.length === 0 || names.includes(type.name))
      .flatMap((type) => {
        const first = { atMs: startMs - keptMs, pricePerHour: priceOf(type, 'spot') };
        const own = call.region.spotPrices.filter(({ pool }) => pool === `${type.name}/${zone}`);
        const before = [first, ...own].findLast(({ atMs }) => atMs <= startMs) ?? first;
        return [before, ...own.filter(({ atMs }) => atMs > startMs)].toReversed().map(({ atMs, pricePerHour }) => ({
          instanceType: type.name,
          productDescription: 'Linux/UNIX',
          spotPrice: pricePerHour.toFixed(6),
          timestamp: new Date(atMs).toISOString(),
          availabilityZone: zone,
        }));
      }),
  );
  const { items, nextToken } = page(call, rows);
  return { spotPriceHistorySet: items, nextToken };
};

/** The age of the first price. */
const keptMs = 90 * 86_400_000;

export const describeImages: Operation = (call) => ({
  imagesSet: call.params.texts('ImageId').map((imageId) => ({
    imageId,
    imageState: 'available',
    rootDeviceName: '/dev/sda1',
    rootDeviceType: 'ebs',
  })),
});

const shownType = (type: InstanceType): Xml => ({
  instanceType: type.name,
  currentGeneration: true,
  bareMetal: false,
  processorInfo: { supportedArchitectures: [type.arch] },
  vCpuInfo: { defaultVCpus: type.vcpus },
  memoryInfo: { sizeInMiB: type.memoryMib },
  supportedUsageClasses: ['on-demand', 'spot'],
  burstablePerformanceSupported: type.name.startsWith('t'),
  gpuInfo:
    type.gpus === 0
      ? null
      : { gpus: [{ name: type.gpuName, manufacturer: 'NVIDIA', count: type.gpus, memoryInfo: { sizeInMiB: 16_384 } }] },
});
