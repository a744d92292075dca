// The dated table of machine types and prices beside this file. Prices are per region; attached GPUs have one price for all
// regions. Without Google Cloud credentials, only the table is used.
import { readFileSync } from 'node:fs';

import type { Architecture, Market, Offer } from '../../domain/offers/offer.ts';
import { parseType } from './machine-types.ts';

type Row = [vcpus: number, memoryMib: number, architecture: Architecture, gpus: number, gpuName: string | null];

interface Catalogue {
  /** RFC 3339 date. */
  pricesAsOf: string;
  types: Record<string, Row>;
  /** US dollars per hour, in the order of `types`; null where a type is not sold. */
  regions: Record<string, [onDemand: (number | null)[], spot: (number | null)[]]>;
}

const catalogue: Catalogue = JSON.parse(readFileSync(new URL('catalogue.json', import.meta.url), 'utf8'));
const names = Object.keys(catalogue.types);
const indexes = new Map(names.map((name, at) => [name, at]));

export const pricesAsOf = catalogue.pricesAsOf;

/**
 * GPUs that can be attached to N1 instances, by Google's name (US dollars per hour, kubernetes/autoscaler, Apache-2.0,
 * 2026-01).
 */
export const attachedGpus: Readonly<Record<string, { name: string; onDemand: number; spot: number }>> = {
  'nvidia-tesla-t4': { name: 'T4', onDemand: 0.35, spot: 0.11 },
  'nvidia-tesla-p4': { name: 'P4', onDemand: 0.6, spot: 0.216 },
  'nvidia-tesla-v100': { name: 'V100', onDemand: 2.48, spot: 0.74 },
  'nvidia-tesla-p100': { name: 'P100', onDemand: 1.46, spot: 0.43 },
};

export interface TypeShape {
  type: string;
  vcpus: number;
  memoryBytes: number;
  architecture: Architecture;
  gpus: number;
  gpuName: string | null;
}

/** US dollars per hour; null for a type that is not in the table, or not sold there. */
export function priceOf(region: string, type: string, market: Market): number | null {
  const at = indexes.get(type);
  const [onDemand, spot] = catalogue.regions[region] ?? [[], []];
  return at === undefined ? null : ((market === 'spot' ? spot : onDemand)[at] ?? null);
}

/**
 * US dollars an hour of a vCPU and of a GiB of memory in predefined types of a family, which have two proportions of them: the largest types
 * of both say it most exactly. Null where the table lacks one.
 */
export function unitPrices(region: string, family: string, market: Market): { vcpu: number; gib: number } | null {
  const largest = (kind: string) =>
    names
      .filter((name) => name.startsWith(`${family}-${kind}-`))
      .flatMap((name) => {
        const [vcpus = 0, memoryMib = 0] = catalogue.types[name] ?? [];
        const price = priceOf(region, name, market);
        return price === null ? [] : [{ vcpus, gib: memoryMib / 1_024, price }];
      })
      .toSorted((a, b) => b.vcpus - a.vcpus)[0];
  const [one, other] = [largest('standard'), largest('highmem')];
  if (one === undefined || other === undefined) return null;
  const determinant = one.vcpus * other.gib - other.vcpus * one.gib;
  return {
    vcpu: (one.price * other.gib - other.price * one.gib) / determinant,
    gib: (one.vcpus * other.price - other.vcpus * one.price) / determinant,
  };
}

export const catalogueTypes = (): TypeShape[] =>
  Object.entries(catalogue.types).map(([type, [vcpus, memoryMib, architecture, gpus, gpuName]]) => ({
    ...{ type, vcpus, memoryBytes: memoryMib * 1024 * 1024, architecture, gpus, gpuName },
  }));

/**
 * Offers of a type in a zone: on demand and spot, alone and with each attachable GPU. `isListed`: Google lists the type in this
 * zone, so it is offered even without a price; the table alone offers only priced types.
 */
export function offersOf(
  { region, zone, isListed }: { region: string; zone: string; isListed: boolean },
  shape: TypeShape,
  gpus: readonly string[],
): Offer[] {
  const priced = (of: TypeShape, extra: { onDemand: number; spot: number }): Offer[] => {
    const { machineType } = parseType(of.type);
    // A type of the table without a spot price is not sold on the spot market.
    const isNew = isListed && !indexes.has(machineType);
    return [
      ...inMarket(of, 'on-demand', priceOf(region, machineType, 'on-demand'), extra.onDemand, isListed),
      ...inMarket(of, 'spot', priceOf(region, machineType, 'spot'), extra.spot, isNew),
    ].map((offer) => ({ ...offer, zone }));
  };
  const plain = priced(shape, { onDemand: 0, spot: 0 });
  // One GPU supports at most 12 vCPUs of an N1 instance (Google's GPU documentation, 2026-08).
  if (!/^n1-(standard|highmem)-/.test(shape.type) || shape.vcpus > 12) return plain;
  const withGpu = gpus.flatMap((gpu) => {
    const attached = attachedGpus[gpu];
    if (attached === undefined) return [];
    return priced({ ...shape, type: `${shape.type}+${gpu}`, gpus: 1, gpuName: attached.name }, attached);
  });
  return [...plain, ...withGpu];
}

function inMarket(
  shape: TypeShape,
  market: Market,
  price: number | null,
  more: number,
  isSold: boolean,
): Omit<Offer, 'zone'>[] {
  if (price === null) return isSold ? [{ ...shape, market, pricePerHour: null }] : [];
  return [{ ...shape, market, pricePerHour: Math.round((price + more) * 10_000) / 10_000 }];
}
