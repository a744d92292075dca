// Instance types built to measure, where a cloud builds them: the vCPUs and the memory that meet requirements by the rules of a family.
import { unbuffered, type InstanceRequirements } from './requirements.ts';

/** The rules of a family of custom types. Memory in MiB. */
export interface CustomFamily {
  name: string;
  /** Permitted numbers of vCPUs, ascending. */
  vcpus: readonly number[];
  memoryPerVcpu: readonly [min: number, max: number];
  maxMemory: number;
  /** Memory is a multiple of it. */
  step: number;
}

export interface CustomShape {
  family: string;
  vcpus: number;
  memoryMib: number;
}

const mib = 1_024 * 1_024;
/** As in balanced types. */
const balancedMib = 4_096;

/** The least and the most memory for this number of vCPUs, in whole steps. */
export function customMemory({ memoryPerVcpu, maxMemory, step }: CustomFamily, vcpus: number): [number, number] {
  const [min, max] = memoryPerVcpu;
  return [Math.ceil((min * vcpus) / step) * step, Math.floor(Math.min(max * vcpus, maxMemory) / step) * step];
}

/**
 * One shape for each permitted number of vCPUs, with the memory that was asked for, or the least of its range. Without a number of vCPUs, or without
 * memory, there are four GiB for each vCPU. Custom types have no GPUs.
 */
export function customShapes(requirements: InstanceRequirements, families: readonly CustomFamily[]): CustomShape[] {
  if (requirements.gpus > 0) return [];
  return families.flatMap((family) =>
    countsFor(family, requirements).flatMap((vcpus) => {
      const memoryMib = memoryFor(family, vcpus, requirements);
      return memoryMib === null ? [] : [{ family: family.name, vcpus, memoryMib }];
    }),
  );
}

function countsFor(family: CustomFamily, { vcpus, memoryBytes }: InstanceRequirements): number[] {
  if (vcpus !== null) return family.vcpus.filter((count) => count >= vcpus.min && count <= vcpus.max);
  const sought = memoryBytes === null ? 0 : unbuffered(memoryBytes).min / mib / balancedMib;
  return family.vcpus.toSorted((a, b) => Math.abs(a - sought) - Math.abs(b - sought)).slice(0, 1);
}

function memoryFor(family: CustomFamily, vcpus: number, { memoryBytes }: InstanceRequirements): number | null {
  const [min, max] = customMemory(family, vcpus);
  const sought = memoryBytes === null ? vcpus * balancedMib : unbuffered(memoryBytes).min / mib;
  const memoryMib = Math.min(max, Math.max(min, Math.ceil(Math.round(sought) / family.step) * family.step));
  const bytes = memoryMib * mib;
  return memoryBytes === null || (bytes >= memoryBytes.min && bytes <= memoryBytes.max) ? memoryMib : null;
}
