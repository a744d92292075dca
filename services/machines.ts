// From what a caller asks of machines to what a specification carries. What a cloud does not have is told here, before
// anything is admitted: a cluster that could never start is an error of the request, with what comes near in its hint.
import { readDoors } from '../domain/cluster/doors.ts';
import type { DoorsInput } from '../domain/cluster/doors.ts';
import type { MachineSettings, SpotPolicy } from '../domain/cluster/machines.ts';
import { RopewalkError } from '../domain/errors.ts';
import { maxCapacityWaitMs } from '../domain/limits.ts';
import { chooseTypes } from '../domain/offers/choose.ts';
import type { ChosenType } from '../domain/offers/choose.ts';
import type { Market, Offer } from '../domain/offers/offer.ts';
import { fieldName, readWish } from '../domain/offers/wish.ts';
import type { WishInput } from '../domain/offers/wish.ts';
import { parseBytes } from '../domain/units.ts';
import { positiveMs } from './clusters/durations.ts';

/** A cloud, or a region of one, that this control plane may launch on. */
export interface CloudPort {
  region: string;
  offers(): Promise<readonly Offer[]>;
  /** Those for which the configuration has a subnet. */
  zones: readonly string[];
  /** Task queue of its activities. */
  queue: string;
  /** Where its on-demand prices are from, and of when; spot prices are of the day. */
  onDemandPrices?: { source: string; asOf: string };
}

export interface Clouds {
  /** Which provider serves who names none. */
  preferred: 'local' | 'aws';
  /** Its default region. */
  aws: CloudPort | null;
  /** All its regions by name; absent where they have none. */
  regions?: ReadonlyMap<string, CloudPort>;
}

/** @throws RopewalkError VALIDATION naming the field: no account, or a region that is not configured. */
export function cloudOf({ aws, regions }: Clouds, region: string | undefined): CloudPort {
  if (aws === null) throw notConfigured();
  if (region === undefined) return aws;
  const found = regions?.get(region);
  if (found !== undefined) return found;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'region',
    message: `The region ${region} is not configured.`,
    hint: `There are: ${[...(regions?.keys() ?? [])].join(', ')}. docs/aws.md says how an operator adds one.`,
  });
}

export interface MachinesInput extends DoorsInput {
  provider?: 'local' | 'aws' | undefined;
  worker: WishInput;
  /** How the fields of `worker` are called in the request, e.g. `worker` for `workerCpu`; empty when they have no prefix. */
  workerPrefix: string;
  head: WishInput;
  arm?: boolean | undefined;
  spotPolicy?: SpotPolicy | undefined;
  region?: string | undefined;
  zone?: string | undefined;
  allowCrossZone?: boolean | undefined;
  diskSize?: string | undefined;
  /** E.g. `6h`. */
  waitForCapacity?: string | number | undefined;
}

export interface ResolvedMachines {
  provider: 'local' | 'aws';
  providerQueue: string;
  /** Absent on this machine. */
  machines?: MachineSettings;
  /** What they were chosen from; empty on this machine. */
  offers: readonly Offer[];
  /** vCPUs that a worker counts for: those of the largest type that may be launched. */
  instanceVcpus: number;
  /** And the head instance. */
  headVcpus: number;
  warnings: string[];
}

const defaultDiskGib = 30;
const gib = 2 ** 30;

/** @throws RopewalkError VALIDATION naming the field. */
export async function resolveMachines(
  { clouds, local }: { clouds: Clouds; local: { hostId: string } },
  input: MachinesInput,
): Promise<ResolvedMachines> {
  const provider = input.provider ?? clouds.preferred;
  const doors = readDoors(input);
  if (provider === 'local') {
    return {
      provider,
      providerQueue: `local/${local.hostId}`,
      offers: [],
      instanceVcpus: 1,
      headVcpus: 1,
      warnings: localWarnings(input),
    };
  }
  const cloud = cloudOf(clouds, input.region);
  const zones = zonesOf(cloud, input.zone);
  const policy = input.spotPolicy ?? 'on-demand';
  const offers = await cloud.offers();
  const choose = (wish: WishInput, prefix: string, market: Market): ChosenType[] =>
    chooseTypes(offers, readWish({ ...wish, arm: input.arm ?? wish.arm }, prefix), { provider, market, zones, prefix });
  const workers = choose(input.worker, input.workerPrefix, policy === 'on-demand' ? 'on-demand' : 'spot');
  const architecture = workers[0]?.architecture ?? 'x86_64';
  if (input.arm !== undefined && input.arm !== (architecture === 'arm64')) {
    throw otherArchitecture(fieldName(input.workerPrefix, 'vmTypes'), architecture, `arm is ${input.arm}`);
  }
  const heads = choose({ ...input.head, arm: architecture === 'arm64' }, 'scheduler', 'on-demand');
  const [{ architecture: ofHead } = { architecture }] = heads;
  if (ofHead !== architecture) throw otherArchitecture('schedulerVmTypes', ofHead, `the workers are ${architecture}`);
  return {
    provider,
    providerQueue: cloud.queue,
    machines: {
      workerTypes: workers.map(({ type }) => type),
      headTypes: heads.map(({ type }) => type),
      architecture,
      spotPolicy: policy,
      region: cloud.region,
      zones,
      allowCrossZone: input.allowCrossZone ?? false,
      diskGib: diskOf(input.diskSize),
      ...(doors === null ? {} : { doors }),
      ...waitOf(input.waitForCapacity),
    },
    offers,
    instanceVcpus: largest(workers),
    headVcpus: largest(heads),
    warnings: [],
  };
}

const largest = (types: readonly ChosenType[]): number => Math.max(...types.map(({ vcpus }) => vcpus));

function zonesOf({ region, zones }: CloudPort, wanted: string | undefined): string[] {
  if (wanted === undefined) return [...zones];
  if (zones.includes(wanted)) return [wanted];
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'zone',
    message: `The configuration has no subnet in ${wanted}, in the region ${region}.`,
    hint: `There are: ${zones.join(', ')}.`,
  });
}

function waitOf(asked: string | number | undefined): { waitForCapacityMs?: number } {
  if (asked === undefined) return {};
  const bounds = { minMs: 1_000, maxMs: maxCapacityWaitMs };
  return { waitForCapacityMs: positiveMs(asked, 'waitForCapacity', bounds) };
}

function diskOf(size: string | undefined): number {
  if (size === undefined) return defaultDiskGib;
  // As Coiled has it, a number alone is in GiB.
  const wanted = /^\d+$/.test(size.trim()) ? Number(size) : Math.ceil(parseBytes(size, 'diskSize') / gib);
  if (wanted >= 8 && wanted <= 16_384) return wanted;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'diskSize',
    message: `A disk of ${size} cannot be had.`,
    hint: 'Between 8 GiB, which the machine image needs, and 16 TiB.',
  });
}

const otherArchitecture = (field: string, architecture: string, but: string): RopewalkError =>
  new RopewalkError({
    code: 'VALIDATION',
    field,
    message: `${field}: these instance types are ${architecture}, and ${but}; one environment cannot run on both.`,
    hint: 'Name types of one architecture; what they are, `ropewalk instance-types` tells.',
  });

const notConfigured = (): RopewalkError =>
  new RopewalkError({
    code: 'VALIDATION',
    field: 'provider',
    message: 'This control plane has no AWS account to launch in.',
    hint: 'An operator sets ROPEWALK_AWS_SETTINGS (docs/aws.md), or leave the provider out to run on this machine.',
  });

function localWarnings(input: MachinesInput): string[] {
  const { worker, workerPrefix, head, provider: _, ...place } = input;
  const wish = ({ types, ...rest }: WishInput): object => ({ vmTypes: types, ...rest });
  const given = [
    ...namesIn(wish(worker)).map((name) => fieldName(workerPrefix, name)),
    ...(head === worker ? [] : namesIn(wish(head)).map((name) => fieldName('scheduler', name))),
    ...namesIn(place),
  ];
  if (given.length === 0) return [];
  const verb = given.length === 1 ? 'has' : 'have';
  return [`${given.join(', ')} ${verb} no effect here: the local provider runs everything on this machine as it is.`];
}

const namesIn = (values: object): string[] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name]));
