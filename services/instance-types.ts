// The available instance types, cheapest first.
import { cheapestFirst, typesOf } from '../domain/offers/choose.ts';
import type { ChosenType } from '../domain/offers/choose.ts';
import type { Market } from '../domain/offers/offer.ts';
import { parseBytes } from '../domain/units.ts';
import type { InstanceType, InstanceTypeList, InstanceTypesQuery } from '../schema/instance-types.ts';
import { requireScope } from './auth/scopes.ts';
import type { Context } from './context.ts';
import { providerOf } from './providers.ts';

/** @throws RopewalkError VALIDATION for a provider that is not enabled. */
export async function listInstanceTypes(
  { deps, actor }: Context,
  query: InstanceTypesQuery,
): Promise<InstanceTypeList> {
  requireScope(actor, 'read');
  const { manifest, reader } = providerOf(deps.providers, query.provider);
  const provider = manifest.name;
  const offers = await reader.placeOf(manifest.kind === 'host' ? undefined : query.region).offers();
  const zones = query.zone === undefined ? [] : [query.zone];
  const onMarket = (market: Market): ChosenType[] => typesOf(offers, { market, zones });
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
