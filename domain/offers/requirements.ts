// Parses the requirements of an instance: types by name, or cpu and memory as a value or a range.
import { RopewalkError } from '../errors.ts';
import { parseBytes } from '../units.ts';
import type { Architecture } from './offer.ts';

/** Both ends included. */
export interface Range {
  min: number;
  max: number;
}

export interface InstanceRequirements {
  /** By name, in order of preference; null for any type that fits the rest. */
  types: string[] | null;
  vcpus: Range | null;
  memoryBytes: Range | null;
  /** Number of NVIDIA GPUs in each instance. */
  gpus: 0 | 1;
  /** E.g. `t4`, in the format of `gpuTypeOf`; null for any. */
  gpuType: string | null;
  architecture: Architecture;
}

export interface RequirementsInput {
  types?: string[] | undefined;
  /** E.g. `4` or `[2, 8]`. */
  cpu?: number | [number, number] | undefined;
  /** E.g. `16 GiB` or `['8 GiB', '32 GiB']`. */
  memory?: string | [string, string] | undefined;
  gpu?: number | boolean | undefined;
  /** E.g. `nvidia-tesla-t4`, `T4` or `A10G`. */
  gpuType?: string | undefined;
  arm?: boolean | undefined;
}

/** Without any requirement: four vCPUs, as Coiled's default. */
const defaultVcpus: Range = { min: 4, max: 4 };

/** Accepted deviation of the memory in either direction: instance types come in steps, so 16 GiB means about that. */
export const memoryBuffer = 0.1;

/** `cpu` of the workers is named `workerCpu` in a request that also has a scheduler. */
export const fieldName = (prefix: string, name: string): string =>
  prefix === '' ? name : `${prefix}${name[0]?.toUpperCase() ?? ''}${name.slice(1)}`;

/**
 * Parses requirements. `prefix` precedes field names in errors, e.g. `worker` for `workerCpu`.
 *
 * @throws RopewalkError VALIDATION naming the field: types together with cpu or memory, an empty or reversed range, more than one GPU.
 */
export function parseRequirements(input: RequirementsInput, prefix = ''): InstanceRequirements {
  const field = (name: string): string => fieldName(prefix, name);
  const types = input.types ?? null;
  if (types !== null && types.length === 0)
    throw wrong(field('vmTypes'), 'The list of instance types is empty.', 'Name at least one, or leave it out.');
  if (types !== null && (input.cpu !== undefined || input.memory !== undefined)) {
    throw wrong(
      field('vmTypes'),
      `Instance types say how many CPUs and how much memory there are: ${field('cpu')} and ${field('memory')} do not go with them.`,
      'Give the types, or give cpu and memory.',
    );
  }
  const vcpus =
    input.cpu === undefined ? null : readRange(input.cpu, field('cpu'), (one) => wholeNumber(one, field('cpu')));
  const memoryBytes =
    input.memory === undefined
      ? null
      : readRange(input.memory, field('memory'), (one) => parseBytes(one, field('memory')));
  return {
    types,
    vcpus: vcpus ?? (types === null && memoryBytes === null ? defaultVcpus : null),
    memoryBytes: memoryBytes === null ? null : buffered(memoryBytes),
    gpus: readGpus(input.gpu ?? (input.gpuType === undefined || types !== null ? undefined : 1), field('gpu')),
    gpuType: input.gpuType === undefined ? null : gpuTypeOf(input.gpuType),
    architecture: input.arm === true ? 'arm64' : 'x86_64',
  };
}

function readRange<T>(value: T | [T, T], field: string, read: (one: T) => number): Range {
  const one = (each: T): number => {
    const found = read(each);
    if (found > 0) return found;
    throw wrong(field, `${JSON.stringify(each)} is not more than nothing.`, 'Give a positive amount.');
  };
  const [min, max] = Array.isArray(value) ? [one(value[0]), one(value[1])] : [one(value), one(value)];
  if (min > max)
    throw wrong(field, `The range ${JSON.stringify(value)} ends before it begins.`, 'Give the smaller end first.');
  return { min, max };
}

function wholeNumber(value: number, field: string): number {
  if (Number.isInteger(value)) return value;
  throw wrong(field, `${value} is not a whole number of CPUs.`, 'Cloud instances have whole vCPUs.');
}

const buffered = ({ min, max }: Range): Range => ({ min: min * (1 - memoryBuffer), max: max * (1 + memoryBuffer) });

/** The memory that was asked for, without the accepted deviation. */
export const unbuffered = ({ min, max }: Range): Range => ({
  min: min / (1 - memoryBuffer),
  max: max / (1 + memoryBuffer),
});

function readGpus(value: number | boolean | undefined, field: string): 0 | 1 {
  const count = Number(value ?? 0);
  if (count === 0 || count === 1) return count;
  throw wrong(
    field,
    `${count} GPUs in one instance are not supported.`,
    'Ask for one GPU an instance, and more instances.',
  );
}

/** `nvidia-tesla-t4` is Google's name for AWS's `T4`. */
export const gpuTypeOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^nvidia[- ]/, '')
    .replace(/^tesla[- ]/, '')
    .replaceAll(/[- ]/g, '');

const wrong = (field: string, message: string, hint: string): RopewalkError =>
  new RopewalkError({ code: 'VALIDATION', field, message, hint });
