// Resolves requested machines to those of a specification. Machines that a cloud does not have are refused here, before admission: a cluster that
// could never start is an error of the request, with near misses in its hint.
import { requireAllowedIngress, type IngressPolicy } from '../domain/cluster/capacity/ingress-policy.ts';
import { parseIngressRules } from '../domain/cluster/capacity/ingress-rules.ts';
import type { MachineSettings } from '../domain/cluster/capacity/machine-settings.ts';
import { RopewalkError } from '../domain/errors.ts';
import { maxCapacityWaitMs } from '../domain/cluster/limits.ts';
import { chooseTypes } from '../domain/offers/choose.ts';
import type { ChosenType } from '../domain/offers/choose.ts';
import type { Market, Offer } from '../domain/offers/offer.ts';
import { fieldName, parseRequirements } from '../domain/offers/requirements.ts';
import type { RequirementsInput } from '../domain/offers/requirements.ts';
import type { PlaceReader } from '../providers/manifest.ts';
import type { MachinesInput, RoleInput } from '../schema/machines-spec.ts';
import { positiveMs } from './clusters/durations.ts';
import { diskGibOf, readThroughput } from './disks.ts';
import { offersFor } from './offers.ts';
import { providerOf, type Providers } from './providers.ts';
import { readTags } from './user-tags.ts';

export interface ResolvedMachines {
  provider: string;
  providerQueue: string;
  /** Absent on a host, where there is no choice. */
  machines?: MachineSettings;
  /** The offers from which they were chosen. */
  offers: readonly Offer[];
  /** Null where instances are free. */
  onDemandPrices: PlaceReader['onDemandPrices'];
  addressPrices: PlaceReader['addressPrices'];
  /** vCPUs counted for a worker: those of the largest type that may be launched. */
  instanceVcpus: number;
  /** The same for the head instance. */
  headVcpus: number;
  /** GPUs were requested. */
  hasGpus: boolean;
  warnings: string[];
}

/** The queue of the host that runs the instances as processes; null on a cloud. */
export const hostQueueOf = ({ providerQueue, machines }: ResolvedMachines): string | null =>
  machines === undefined ? providerQueue : null;

const defaultDiskGib = 30;
/** Images with a GPU driver have 75 GiB, and CUDA packages need some more. */
const gpuDiskGib = 120;

/** @throws RopewalkError VALIDATION naming the field, FORBIDDEN for a port that the operator does not allow. */
export async function resolveMachines(
  { providers, ingressPolicy }: { providers: Providers; ingressPolicy: IngressPolicy },
  input: MachinesInput,
): Promise<ResolvedMachines> {
  const { manifest, reader } = providerOf(providers, input.provider);
  const ingress = parseIngressRules(input);
  // A host has no regions, so a given region has no effect, like a zone.
  const place = reader.placeOf(manifest.kind === 'host' ? undefined : input.region);
  const { region } = place;
  const named = [...(input.worker.types ?? []), ...(input.head.types ?? [])];
  const offers = await offersFor(manifest, place, named);
  const { onDemandPrices, addressPrices } = place;
  const found = { provider: manifest.name, providerQueue: place.queue, offers, onDemandPrices, addressPrices };
  requireAllowedIngress(ingressPolicy, ingress, input);
  const tags = readTags(input.tags ?? {});
  if (region === null) {
    checkValues(input);
    return { ...found, instanceVcpus: 1, headVcpus: 1, hasGpus: wantsGpus(input), warnings: hostWarnings(input) };
  }
  const zones = zonesOf(place, input.zone, input.useBestZone ?? true);
  const policy = input.spotPolicy ?? 'on-demand';
  const choose = (requirements: RequirementsInput, prefix: string, market: Market): ChosenType[] =>
    chooseTypes(offers, parseRequirements({ ...requirements, arm: input.arm ?? requirements.arm }, prefix), {
      families: manifest.families,
      ...(manifest.nameHint === undefined ? {} : { nameHint: manifest.nameHint }),
      toMeasure: (wanted) => manifest.offersToMeasure?.(offers, region, wanted) ?? [],
      market,
      zones,
      prefix,
    });
  const workers = choose(input.worker, input.workerPrefix, policy === 'on-demand' ? 'on-demand' : 'spot');
  const architecture = workers[0]?.architecture ?? 'x86_64';
  if (input.arm !== undefined && input.arm !== (architecture === 'arm64')) {
    throw otherArchitecture(fieldName(input.workerPrefix, 'vmTypes'), architecture, `arm is ${input.arm}`);
  }
  const headRequirements = { ...input.head, gpu: headGpuOf(input), arm: architecture === 'arm64' };
  const heads = choose(headRequirements, 'scheduler', 'on-demand');
  const [{ architecture: ofHead } = { architecture }] = heads;
  const needsDriver = [...workers, ...heads].some(({ gpus }) => gpus > 0);
  // The configured image with a driver is for x86_64.
  if (needsDriver && (!place.hasGpuDriver || architecture === 'arm64')) throw noDriver(workers, input.workerPrefix);
  if (ofHead !== architecture) throw otherArchitecture('schedulerVmTypes', ofHead, `the workers are ${architecture}`);
  const disks = disksOf(input, needsDriver ? gpuDiskGib : defaultDiskGib);
  const workerTypes = workers.map(({ type }) => type);
  const refusal = manifest.refusal?.({
    ...{ workerTypes, tags: tags ?? {} },
    workerDiskThroughput: disks.workerDiskThroughput ?? null,
  });
  if (refusal !== undefined && refusal !== null) {
    const field = refusal.field === 'tags' ? 'tags' : fieldName(input.workerPrefix, refusal.field);
    throw new RopewalkError({ code: 'VALIDATION', ...refusal, field });
  }
  const headTypes = heads.map(({ type }) => type);
  const listed = new Set(offers.map(({ type }) => type));
  const built = [...workerTypes, ...headTypes].filter((type) => !listed.has(type));
  return {
    ...found,
    offers: [...offers, ...(manifest.offersByName?.(offers, region, built) ?? [])],
    machines: {
      workerTypes,
      headTypes,
      architecture,
      spotPolicy: policy,
      region,
      zones,
      allowCrossZone: input.allowCrossZone ?? false,
      ...disks,
      ...(ingress === null ? {} : { ingress: ingress }),
      ...(tags === null ? {} : { tags }),
      ...waitOf(input.waitForCapacity),
      ...(input.instanceCredentials === true ? { instanceCredentials: true as const } : {}),
    },
    instanceVcpus: largest(workers),
    headVcpus: largest(heads),
    hasGpus: needsDriver,
    warnings: [],
  };
}

/** Values without effect on a host are still refused when no provider could parse them, because the program may run on a cloud next. */
function checkValues(input: MachinesInput): void {
  parseRequirements(input.worker, input.workerPrefix);
  if (input.head !== input.worker) parseRequirements(input.head, 'scheduler');
  disksOf(input, defaultDiskGib);
  waitOf(input.waitForCapacity);
}

/** A host ignores requirements, but a request for GPUs shows that its user expects some. */
const wantsGpus = ({ worker, head }: MachinesInput): boolean =>
  [worker, head].some(({ gpu, gpuType }) => Number(gpu ?? 0) > 0 || gpuType !== undefined);

const largest = (types: readonly ChosenType[]): number => Math.max(...types.map(({ vcpus }) => vcpus));

/** The scheduler unpickles tasks of the workers' libraries too, so Dask recommends a GPU there when workers have one. */
function headGpuOf({ worker, head }: MachinesInput): RequirementsInput['gpu'] {
  if (head === worker || head.gpu !== undefined || head.types !== undefined) return head.gpu;
  return worker.types === undefined && (Number(worker.gpu ?? 0) > 0 || worker.gpuType !== undefined);
}

function zonesOf({ region, zones }: PlaceReader, wanted: string | undefined, useBestZone: boolean): string[] {
  if (wanted === undefined) return useBestZone ? [...zones] : zones.slice(0, 1);
  requireZone({ region, zones }, wanted);
  return [wanted];
}

/** @throws RopewalkError VALIDATION for a zone without a subnet. */
export function requireZone({ region, zones }: Pick<PlaceReader, 'region' | 'zones'>, wanted: string): void {
  if (zones.includes(wanted)) return;
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

function disksOf({ worker, workerPrefix, head }: MachinesInput, defaultGib: number) {
  const diskGib = diskGibOf(worker.diskSize, fieldName(workerPrefix, 'diskSize'), defaultGib);
  const headDiskGib = diskGibOf(head.diskSize, 'schedulerDiskSize', diskGib);
  const throughput = readThroughput(worker.diskThroughput, fieldName(workerPrefix, 'diskThroughput'));
  return {
    diskGib,
    ...(headDiskGib === diskGib ? {} : { headDiskGib }),
    ...(throughput === null ? {} : { workerDiskThroughput: throughput }),
  };
}

const noDriver = (workers: readonly ChosenType[], workerPrefix: string): RopewalkError => {
  const isWorkers = workers.some(({ gpus }) => gpus > 0);
  return new RopewalkError({
    code: 'VALIDATION',
    field: isWorkers ? fieldName(workerPrefix, 'gpu') : 'schedulerVmTypes',
    message:
      'No image with a GPU driver is configured here: instances with a GPU would be paid for, and could not use it.',
    hint: 'An operator sets gpuImage in the settings of the provider (docs/aws.md); it is for x86_64.',
  });
};

const otherArchitecture = (field: string, architecture: string, but: string): RopewalkError =>
  new RopewalkError({
    code: 'VALIDATION',
    field,
    message: `${field}: these instance types are ${architecture}, and ${but}; one environment cannot run on both.`,
    hint: 'Name types of one architecture; `ropewalk instance-types` lists them.',
  });

function hostWarnings(input: MachinesInput): string[] {
  // The scheduler port has an effect on a host too.
  const { worker, workerPrefix, head, provider: _, schedulerPort: _port, useBestZone, tags, ...place } = input;
  const requirements = ({ types, ...rest }: RoleInput): object => ({ vmTypes: types, ...rest });
  const given = [
    ...namesIn(requirements(worker)).map((name) => fieldName(workerPrefix, name)),
    ...(head === worker ? [] : namesIn(requirements(head)).map((name) => fieldName('scheduler', name))),
    ...namesIn(place),
    ...(useBestZone === false ? ['useBestZone'] : []),
    ...(Object.keys(tags ?? {}).length > 0 ? ['tags'] : []),
  ];
  if (given.length === 0) return [];
  const verb = given.length === 1 ? 'has' : 'have';
  return [`${given.join(', ')} ${verb} no effect here: this provider runs everything on one machine as it is.`];
}

const namesIn = (values: object): string[] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name]));
