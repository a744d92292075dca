// The dated tables beside this file: instance types, for control planes without AWS credentials, and on-demand prices by
// region, which EC2's API does not report.
import { readFileSync } from 'node:fs';

import type { Offer } from '../provider.ts';
import type { Architecture } from '../../domain/offers/offer.ts';

type Row = [vcpus: number, memoryMib: number, architecture: Architecture, gpus: number, gpuName: string | null];

const catalogue: { types: Record<string, Row> } = JSON.parse(
  readFileSync(new URL('catalogue.json', import.meta.url), 'utf8'),
);

/** US dollars per hour, in the order of `regions`; null where the type has no price. */
const table: { regions: [region: string, asOf: string, source: string][]; types: Record<string, (number | null)[]> } =
  JSON.parse(readFileSync(new URL('prices.json', import.meta.url), 'utf8'));
const columns = new Map(table.regions.map(([region, asOf, source], column) => [region, { column, asOf, source }]));

/** Source and RFC 3339 date of a region's prices; null for a region without prices. */
export function pricesOfRegion(region: string): { source: string; asOf: string } | null {
  const found = columns.get(region);
  return found === undefined ? null : { source: found.source, asOf: found.asOf };
}

/** On-demand price in US dollars per hour; null when the table has none. */
export function onDemandPrice(region: string, type: string): number | null {
  const found = columns.get(region);
  return found === undefined ? null : (table.types[type]?.[found.column] ?? null);
}

/**
 * The table's types, on demand, in each of these zones; AWS alone reports which zone has which type. Without prices for the
 * region, returns every type of the table.
 */
export function catalogueOffers(region: string, zones: readonly string[]): Offer[] {
  return Object.entries(catalogue.types).flatMap(([type, [vcpus, memoryMib, architecture, gpus, gpuName]]) => {
    const pricePerHour = onDemandPrice(region, type);
    if (pricePerHour === null && columns.has(region)) return [];
    const memoryBytes = memoryMib * 1024 * 1024;
    const shape = { type, vcpus, memoryBytes, architecture, gpus, gpuName, pricePerHour, market: 'on-demand' as const };
    return zones.map((zone) => ({ ...shape, zone }));
  });
}
