// The dated table of instance types beside this file, for control planes without AWS credentials. Prices are those of us-east-1
// and approximate elsewhere.
import { readFileSync } from 'node:fs';

import type { Offer } from '../provider.ts';
import type { Architecture } from '../../domain/offers/offer.ts';

type Row = [
  vcpus: number,
  memoryMib: number,
  architecture: Architecture,
  gpus: number,
  gpuName: string | null,
  pricePerHour: number,
];

interface Catalogue {
  /** RFC 3339 date. */
  pricesAsOf: string;
  region: string;
  types: Record<string, Row>;
}

const catalogue: Catalogue = JSON.parse(readFileSync(new URL('catalogue.json', import.meta.url), 'utf8'));

export const pricesAsOf = catalogue.pricesAsOf;
export const pricesRegion = catalogue.region;

/** US dollars per hour on demand in us-east-1; null for a type that is not in the table. */
export function onDemandPrice(type: string): number | null {
  return catalogue.types[type]?.[5] ?? null;
}

/** Every type of the table in each of these zones, on demand: only AWS knows which zone really has which type. */
export function catalogueOffers(zones: readonly string[]): Offer[] {
  return Object.entries(catalogue.types).flatMap(([type, row]) => {
    const [vcpus, memoryMib, architecture, gpus, gpuName, pricePerHour] = row;
    const memoryBytes = memoryMib * 1024 * 1024;
    const shape = { type, vcpus, memoryBytes, architecture, gpus, gpuName, pricePerHour, market: 'on-demand' as const };
    return zones.map((zone) => ({ ...shape, zone }));
  });
}
