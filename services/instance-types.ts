// What can be launched here, cheapest first.
import { totalmem } from 'node:os';

import { cheapestFirst, typesOf } from '../domain/offers/choose.ts';
import type { ChosenType } from '../domain/offers/choose.ts';
import type { Market, Offer } from '../domain/offers/offer.ts';
import { parseBytes } from '../domain/units.ts';
import type { InstanceType, InstanceTypeList, InstanceTypesQuery } from '../schema/instance-types.ts';
import { requireScope } from './auth/scopes.ts';
import type { Context, Deps } from './context.ts';
import { cloudOf } from './machines.ts';

/** @throws RopewalkError VALIDATION for a provider that this control plane does not have. */
export async function listInstanceTypes(
  { deps, actor }: Context,
  query: InstanceTypesQuery,
): Promise<InstanceTypeList> {
  requireScope(actor, 'read');
  const provider = query.provider ?? deps.clouds.preferred;
  const offers = await offersOf(deps, provider, query.region);
  const zones = query.zone === undefined ? [] : [query.zone];
  const onMarket = (market: Market): ChosenType[] => typesOf(offers, { provider, market, zones });
  const spot = new Map(onMarket('spot').map((type) => [type.type, type.pricePerHour]));
  const isWanted = filterOf(query);
  const items = onMarket('on-demand')
    .filter(isWanted)
    .sort(cheapestFirst)
    .map(({ pricePerHour, zones: where, ...type }): InstanceType => {
      return {
        ...type,
        provider,
        pricePerHour,
        spotPricePerHour: spot.get(type.type) ?? null,
        zones: where.toSorted(),
      };
    });
  return { items };
}

async function offersOf(
  { clouds, local }: Pick<Deps, 'clouds' | 'local'>,
  provider: 'local' | 'aws',
  region: string | undefined,
) {
  if (provider === 'local') return [thisMachine(local.cores)];
  return cloudOf(clouds, region).offers();
}

/** What the local provider offers. */
export const thisMachine = (vcpus: number): Offer => ({
  type: 'local',
  zone: 'local',
  market: 'on-demand',
  vcpus,
  memoryBytes: totalmem(),
  architecture: process.arch === 'arm64' ? 'arm64' : 'x86_64',
  gpus: 0,
  gpuName: null,
  pricePerHour: 0,
});

function filterOf(query: InstanceTypesQuery): (type: ChosenType) => boolean {
  const { minCpu = '0', maxCpu, minMemory, maxMemory, gpu, arm, prefix = '' } = query;
  const leastBytes = minMemory === undefined ? 0 : parseBytes(minMemory, 'minMemory');
  const mostBytes = maxMemory === undefined ? Number.POSITIVE_INFINITY : parseBytes(maxMemory, 'maxMemory');
  const mostCpu = maxCpu === undefined ? Number.POSITIVE_INFINITY : Number(maxCpu);
  return (type) =>
    type.vcpus >= Number(minCpu) &&
    type.vcpus <= mostCpu &&
    type.memoryBytes >= leastBytes &&
    type.memoryBytes <= mostBytes &&
    (gpu === undefined || type.gpus > 0 === (gpu === 'true')) &&
    (arm === undefined || (type.architecture === 'arm64') === (arm === 'true')) &&
    type.type.startsWith(prefix);
}
