// Custom machine types, e.g. `n2-custom-4-16384`: vCPUs and MiB of memory, in the steps of the family. Google lists none of them; they are on
// offer by name, and to requests by CPUs and memory that no predefined type meets, in every zone that has the family. Rules: Google's
// documentation (cloud.google.com/compute/docs/instances/creating-instance-with-custom-machine-type) and its sample
// (cloud.google.com/compute/docs/samples/compute-custom-machine-type-helper-class), 2026-08.
import { customMemory, customShapes, type CustomFamily, type CustomShape } from '../../domain/offers/custom.ts';
import type { Market, Offer } from '../../domain/offers/offer.ts';
import type { InstanceRequirements } from '../../domain/offers/requirements.ts';
import { priceOf, unitPrices } from './catalogue.ts';

/** From one number to another, both included. */
const range = (from: number, to: number, step: number): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, at) => from + at * step);
const gib = 1_024;
const step = 256;

interface Family extends CustomFamily {
  /** Its numbers of vCPUs, in words. */
  text: string;
}

/** Families that are considered when a request names no type, as in families.ts. */
const recent: readonly Family[] = [
  {
    ...{ name: 'n2', vcpus: [...range(2, 32, 2), ...range(36, 128, 4)], step },
    ...{ text: '2 to 32, even, or 36 to 128 in steps of 4', memoryPerVcpu: [512, 8 * gib], maxMemory: 864 * gib },
  },
  {
    ...{ name: 'n2d', vcpus: [2, 4, 8, ...range(16, 96, 16)], step },
    ...{ text: '2, 4, 8, or 16 to 96 in steps of 16', memoryPerVcpu: [512, 8 * gib], maxMemory: 768 * gib },
  },
  {
    ...{ name: 'n4', vcpus: range(2, 80, 2), step },
    ...{ text: '2 to 80, even', memoryPerVcpu: [2 * gib, 8 * gib], maxMemory: 640 * gib },
  },
];

/** Their processors vary; they are considered only where no recent family meets the request. N1 alone has one vCPU. */
const older: readonly Family[] = [
  {
    ...{ name: 'e2', vcpus: range(2, 32, 2), step },
    ...{ text: '2 to 32, even', memoryPerVcpu: [512, 8 * gib], maxMemory: 128 * gib },
  },
  {
    ...{ name: 'n1', vcpus: [1, ...range(2, 96, 2)], step },
    ...{ text: '1, or 2 to 96, even', memoryPerVcpu: [922, 6.5 * gib], maxMemory: 624 * gib },
  },
];

const families = new Map([...older, ...recent].map((family) => [family.name, family]));

/** `custom-4-16384` is Google's old name of one of N1. */
function parseCustom(name: string): CustomShape | null {
  const [, family = 'n1', vcpus, memoryMib] =
    /^(?:([a-z]\d[a-z]?)-)?custom-(0|[1-9]\d*)-(0|[1-9]\d*)$/.exec(name) ?? [];
  return vcpus === undefined ? null : { family, vcpus: Number(vcpus), memoryMib: Number(memoryMib) };
}

export const isCustom = (name: string): boolean => parseCustom(name) !== null;

/** Why a name with `custom` is no machine type; null for other names, and for one that is. */
export function customProblem(name: string): string | null {
  if (!/(^|-)custom-/.test(name)) return null;
  const wanted = parseCustom(name);
  if (wanted === null)
    return 'A custom machine type is named FAMILY-custom-VCPUS-MIB, for example n2-custom-4-16384, without leading zeros; extended memory, micro, small and medium are not supported.';
  const { family, vcpus, memoryMib } = wanted;
  const rules = families.get(family);
  if (rules === undefined)
    return `The family ${family} has no custom machine types here: ${[...families.keys()].toSorted().join(', ')} have.`;
  if (!rules.vcpus.includes(vcpus)) return `${family}-custom has ${rules.text} vCPUs, not ${vcpus}.`;
  const [min, max] = customMemory(rules, vcpus);
  if (memoryMib % step !== 0 || memoryMib < min || memoryMib > max)
    return `${family}-custom-${vcpus} has ${min} to ${max} MiB of memory, a multiple of ${step}, not ${memoryMib}.`;
  return null;
}

/** Offers of custom types that meet requirements which no predefined type meets, of the recent families if they can. */
export function offersToMeasure(listed: readonly Offer[], region: string, requirements: InstanceRequirements): Offer[] {
  if (requirements.architecture !== 'x86_64') return [];
  const offersIn = (those: readonly Family[]): Offer[] =>
    customOffers(listed, region, customShapes(requirements, those).map(nameOf));
  const offers = offersIn(recent);
  return offers.length > 0 ? offers : offersIn(older);
}

/** N1's names have no family in Google's samples. */
const nameOf = ({ family, vcpus, memoryMib }: CustomShape): string =>
  `${family === 'n1' ? '' : `${family}-`}custom-${vcpus}-${memoryMib}`;

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
