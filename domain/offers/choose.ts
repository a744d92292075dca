// Chooses instance types from requirements and available offers, cheapest first. When none fits, types built to measure are considered where a cloud
// builds them; otherwise the error names near misses: instances with the requested memory, or with the requested CPUs.
import { RopewalkError } from '../errors.ts';
import { formatBytes } from '../units.ts';
import type { Market, Offer } from './offer.ts';
import { fieldName, gpuTypeOf, unbuffered } from './requirements.ts';
import type { Range, InstanceRequirements } from './requirements.ts';

/** More types help with capacity, but the last of many would cost far more than the first. */
export const maxTypes = 20;

export interface ChosenType extends Omit<Offer, 'zone' | 'market' | 'pricePerHour'> {
  /** Cheapest price among the zones, US dollars; null when unknown. */
  pricePerHour: number | null;
  /** Zones that offer the type. */
  zones: string[];
}

/** Instance types to consider when a request names none. */
export interface InstanceFamilies {
  /** About four GiB of memory for each vCPU. */
  balanced: RegExp;
  /** Includes types with more compute or more memory. */
  all: RegExp;
  gpu: RegExp;
}

export interface Sought {
  market: Market;
  /** Only these zones; all when empty. */
  zones: readonly string[];
}

export interface Choosing extends Sought {
  families: InstanceFamilies;
  /** Prefix of field names in errors, as for `parseRequirements`. */
  prefix?: string;
  /** The error in the name of a type that is not on offer; null without an error. */
  nameHint?: (name: string) => string | null;
  /** Offers of types built to measure; absent where the cloud builds none. */
  toMeasure?: (requirements: InstanceRequirements) => readonly Offer[];
}

/**
 * Returns at most `maxTypes` types that fit the requirements: in the requested order, or cheapest first. A type built to measure costs more than a
 * listed one, so it is chosen only if no listed one fits.
 *
 * @throws RopewalkError VALIDATION: a type that is not offered, types of two architectures, or no type that fits, with near misses in the hint.
 */
export function chooseTypes(
  offers: readonly Offer[],
  requirements: InstanceRequirements,
  choosing: Choosing,
): ChosenType[] {
  const available = typesOf(offers, choosing);
  if (requirements.types !== null) return named(available, requirements.types, choosing);
  const fits = ({ vcpus, memoryBytes }: ChosenType): boolean =>
    within(vcpus, requirements.vcpus) && within(memoryBytes, requirements.memoryBytes);
  const fitting = considered(available, requirements, choosing.families).filter(fits);
  if (fitting.length > 0) return fitting.toSorted(cheapestFirst).slice(0, maxTypes);
  const built = typesOf(choosing.toMeasure?.(requirements) ?? [], choosing);
  const fittingBuilt = considered(built, requirements, anyFamily).filter(fits);
  if (fittingBuilt.length > 0) return fittingBuilt.toSorted(cheapestFirst).slice(0, maxTypes);
  const near = [...available, ...typesOf(choosing.toMeasure?.(withMoreCpus(requirements)) ?? [], choosing)];
  throw nothingFits(
    considered(near, { ...requirements, vcpus: null, memoryBytes: null }, anyFamily),
    requirements,
    choosing.prefix,
  );
}

/** From half to twice the CPUs: near misses of types built to measure. */
const withMoreCpus = ({ vcpus, ...requirements }: InstanceRequirements): InstanceRequirements => ({
  ...{ ...requirements, vcpus: vcpus === null ? null : { min: vcpus.min / 2, max: vcpus.max * 2 } },
});

/** Groups offers by type: the cheapest price, and every zone that has it. */
export function typesOf(offers: readonly Offer[], { market, zones }: Sought): ChosenType[] {
  const types = new Map<string, ChosenType>();
  for (const { zone, market: sold, ...offer } of offers) {
    if (sold !== market || (zones.length > 0 && !zones.includes(zone))) continue;
    const known = types.get(offer.type);
    if (known === undefined) types.set(offer.type, { ...offer, zones: [zone] });
    else {
      known.zones.push(zone);
      known.pricePerHour = lower(known.pricePerHour, offer.pricePerHour);
    }
  }
  return [...types.values()];
}

const lower = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

/** Types without a known price come last. */
export const cheapestFirst = (a: ChosenType, b: ChosenType): number =>
  comparePrices(a.pricePerHour, b.pricePerHour) || (a.type < b.type ? -1 : 1);

const comparePrices = (a: number | null, b: number | null): number =>
  a === null || b === null ? Number(a === null) - Number(b === null) : a - b;

function named(
  available: readonly ChosenType[],
  names: readonly string[],
  { prefix = '', nameHint }: Choosing,
): ChosenType[] {
  const chosen = names.map((name) => {
    const found = available.find((each) => each.type === name);
    if (found !== undefined) return found;
    const family = name.slice(0, Math.max(name.lastIndexOf('.'), name.lastIndexOf('-')) + 1);
    const near = available.filter((each) => each.type.startsWith(family)).map((each) => each.type);
    throw new RopewalkError({
      code: 'VALIDATION',
      field: fieldName(prefix, 'vmTypes'),
      message: `There is no instance type ${JSON.stringify(name)} on offer here.`,
      hint:
        nameHint?.(name) ??
        (family !== '' && near.length > 0
          ? `Of this family there are: ${near.slice(0, 10).join(', ')}.`
          : 'See `ropewalk instance-types`.'),
    });
  });
  const [first, other] = [...new Set(chosen.map(({ architecture }) => architecture))];
  if (other === undefined) return chosen;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: fieldName(prefix, 'vmTypes'),
    message: `The instance types are of two architectures, ${first} and ${other}; one environment cannot run on both.`,
    hint: 'Name types of one architecture.',
  });
}

/** With only CPUs or only memory given, considers balanced types; with both, the request may mean more compute or more memory. */
function considered(
  available: readonly ChosenType[],
  requirements: InstanceRequirements,
  families: InstanceFamilies,
): ChosenType[] {
  const wanted =
    requirements.gpus > 0
      ? families.gpu
      : requirements.vcpus !== null && requirements.memoryBytes !== null
        ? families.all
        : families.balanced;
  return available.filter(
    (type) =>
      wanted.test(type.type) &&
      type.gpus === requirements.gpus &&
      type.architecture === requirements.architecture &&
      (requirements.gpuType === null || (type.gpuName !== null && gpuTypeOf(type.gpuName) === requirements.gpuType)),
  );
}

const anyFamily: InstanceFamilies = { balanced: /^/, all: /^/, gpu: /^/ };

const within = (value: number, range: Range | null): boolean =>
  range === null || (value >= range.min && value <= range.max);

function nothingFits(all: readonly ChosenType[], requirements: InstanceRequirements, prefix = ''): RopewalkError {
  const asked = [
    ...(requirements.vcpus === null ? [] : [`${rangeText(requirements.vcpus, String)} vCPU`]),
    ...(requirements.memoryBytes === null
      ? []
      : [`${rangeText(unbuffered(requirements.memoryBytes), formatBytes)} of memory`]),
    ...(requirements.gpus === 0
      ? []
      : [requirements.gpuType === null ? 'a GPU' : `a GPU of the type ${requirements.gpuType}`]),
    ...(requirements.architecture === 'arm64' ? ['an ARM processor'] : []),
  ];
  const near = [
    ...nearest(
      all.filter((type) => within(type.memoryBytes, requirements.memoryBytes)),
      (type) => type.vcpus,
      requirements.vcpus,
    ),
    ...nearest(
      all.filter((type) => within(type.vcpus, requirements.vcpus)),
      (type) => type.memoryBytes,
      requirements.memoryBytes,
    ),
  ];
  const unique = [...new Map(near.map((type) => [type.type, type])).values()];
  return new RopewalkError({
    code: 'VALIDATION',
    field: fieldName(
      prefix,
      requirements.gpuType !== null ? 'gpuType' : requirements.vcpus === null ? 'memory' : 'cpu',
    ),
    message: `There is no instance type with ${asked.join(' and ')}.`,
    hint:
      unique.length === 0
        ? 'See `ropewalk instance-types` for what there is.'
        : `Near to it: ${unique.map(describe).join('; ')}. Ask for a range, for example cpu [1, 8], or leave one of the two out.`,
  });
}

/** Returns the three types that miss the range by least; among equals, the cheapest first. */
function nearest(types: readonly ChosenType[], of: (type: ChosenType) => number, range: Range | null): ChosenType[] {
  if (range === null) return [];
  const miss = (type: ChosenType): number => Math.max(range.min / of(type), of(type) / range.max);
  return types.toSorted((a, b) => miss(a) - miss(b) || cheapestFirst(a, b)).slice(0, 3);
}

const describe = (type: ChosenType): string =>
  `${type.type} (${type.vcpus} vCPU, ${formatBytes(type.memoryBytes)}, ${type.pricePerHour === null ? 'price unknown' : `$${type.pricePerHour}/h`})`;

const rangeText = ({ min, max }: Range, show: (value: number) => string): string =>
  show(min) === show(max) ? show(min) : `${show(min)} to ${show(max)}`;
