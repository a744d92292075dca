// Custom machine types, e.g. `n2-custom-4-16384`: vCPUs and MiB of memory, in the steps of the family. Google lists none of them; they are on
// offer by name, in every zone that has the family. Rules: Google's documentation of custom machine types (2026-08).
import type { Market, Offer } from '../../domain/offers/offer.ts';
import { priceOf, unitPrices } from './catalogue.ts';

interface Family {
  /** Numbers of vCPUs. */
  permits: (vcpus: number) => boolean;
  vcpus: string;
  /** MiB for each vCPU. */
  memory: readonly [min: number, max: number];
  maxMemory: number;
}

const even = (from: number, to: number) => (vcpus: number) => vcpus >= from && vcpus <= to && vcpus % 2 === 0;
const gib = 1_024;
const families: Readonly<Record<string, Family>> = {
  e2: { permits: even(2, 32), vcpus: '2 to 32, even', memory: [512, 8 * gib], maxMemory: 128 * gib },
  n1: {
    permits: (vcpus) => vcpus === 1 || even(2, 96)(vcpus),
    vcpus: '1, or 2 to 96, even',
    memory: [922, 6.5 * gib],
    maxMemory: 624 * gib,
  },
  n2: {
    permits: (vcpus) => even(2, 32)(vcpus) || (vcpus >= 36 && vcpus <= 128 && vcpus % 4 === 0),
    vcpus: '2 to 32, even, or 36 to 128 in steps of 4',
    memory: [512, 8 * gib],
    maxMemory: 864 * gib,
  },
  n2d: {
    permits: (vcpus) => [2, 4, 8].includes(vcpus) || (vcpus >= 16 && vcpus <= 96 && vcpus % 16 === 0),
    vcpus: '2, 4, 8, or 16 to 96 in steps of 16',
    memory: [512, 8 * gib],
    maxMemory: 768 * gib,
  },
  n4: { permits: even(2, 80), vcpus: '2 to 80, even', memory: [2 * gib, 8 * gib], maxMemory: 640 * gib },
};

interface Custom {
  family: string;
  vcpus: number;
  memoryMib: number;
}

/** `custom-4-16384` is Google's old name of one of N1. */
function parseCustom(name: string): Custom | null {
  const [, family = 'n1', vcpus, memoryMib] =
    /^(?:([a-z]\d[a-z]?)-)?custom-(0|[1-9]\d*)-(0|[1-9]\d*)$/.exec(name) ?? [];
  return vcpus === undefined ? null : { family, vcpus: Number(vcpus), memoryMib: Number(memoryMib) };
}

/** Why a name with `custom` is no machine type; null for other names, and for one that is. */
export function customProblem(name: string): string | null {
  if (!/(^|-)custom-/.test(name)) return null;
  const wanted = parseCustom(name);
  if (wanted === null)
    return 'A custom machine type is named FAMILY-custom-VCPUS-MIB, for example n2-custom-4-16384, without leading zeros; extended memory, micro, small and medium are not supported.';
  const { family, vcpus, memoryMib } = wanted;
  const rules = families[family];
  if (rules === undefined)
    return `The family ${family} has no custom machine types here: ${Object.keys(families).join(', ')} have.`;
  const [min, max] = rules.memory.map((each) => Math.ceil((each * vcpus) / 256) * 256) as [number, number];
  const most = Math.min(Math.floor(max), rules.maxMemory);
  if (!rules.permits(vcpus)) return `${family}-custom has ${rules.vcpus} vCPUs, not ${vcpus}.`;
  if (memoryMib % 256 !== 0 || memoryMib < min || memoryMib > most)
    return `${family}-custom-${vcpus} has ${min} to ${most} MiB of memory, a multiple of 256, not ${memoryMib}.`;
  return null;
}

/** Those of the names that are custom machine types, where `listed` has their family. */
export function customOffers(listed: readonly Offer[], region: string, names: readonly string[]): Offer[] {
  return [...new Set(names)].flatMap((name) => {
    const wanted = customProblem(name) === null ? parseCustom(name) : null;
    if (wanted === null) return [];
    const { family, vcpus, memoryMib } = wanted;
    const zones = new Set(listed.filter(({ type }) => type.startsWith(`${family}-standard-`)).map(({ zone }) => zone));
    const shape = { type: name, vcpus, memoryBytes: memoryMib * 1_024 * 1_024, gpus: 0, gpuName: null };
    return (['on-demand', 'spot'] as const).flatMap((market): Offer[] => {
      const pricePerHour = gcpPriceOf(region, name, market);
      if (pricePerHour === null && market === 'spot') return [];
      return [...zones].map((zone) => ({ ...shape, architecture: 'x86_64', market, zone, pricePerHour }));
    });
  });
}

/** E2 costs the same as in predefined types; the others cost 5 % more (cloud.google.com/compute/vm-instance-pricing, 2026-10). */
const premiumOf = (family: string): number => (family === 'e2' ? 1 : 1.05);

/** US dollars an hour, of a predefined or a custom type; null when it is unknown, or not sold there. */
export function gcpPriceOf(region: string, type: string, market: Market): number | null {
  const custom = parseCustom(type);
  if (custom === null) return priceOf(region, type, market);
  const units = unitPrices(region, custom.family, market);
  if (units === null) return null;
  const dollars = (custom.vcpus * units.vcpu + (custom.memoryMib / gib) * units.gib) * premiumOf(custom.family);
  return Math.round(dollars * 10_000) / 10_000;
}
