// A machine type as Ropewalk names it in offers and requests: the type alone, or with attached GPUs, e.g. `n1-standard-4` or
// `n1-standard-4+nvidia-tesla-t4` or `n1-standard-8+2xnvidia-tesla-t4`. Also the differences between Google's families: their
// kind of boot disk, and whether their instances can move to another host.
export interface MachineShape {
  machineType: string;
  accelerator: { type: string; count: number } | null;
}

export function parseType(name: string): MachineShape {
  const [machineType = '', attached] = name.split('+');
  if (attached === undefined) return { machineType, accelerator: null };
  const [, count = '1', type = attached] = /^(?:(\d+)x)?(.+)$/.exec(attached) ?? [];
  return { machineType, accelerator: { type, count: Number(count) } };
}

/** Families of the fourth and later generations, and A3 Ultra (Google's documentation of Hyperdisk, 2026-08). */
const hyperdiskOnly = /^([a-z]+([4-9]|\d\d)[a-z]*|a3-ultragpu)-/;

export const bootDiskOf = (machineType: string): string =>
  hyperdiskOnly.test(machineType) ? 'hyperdisk-balanced' : 'pd-balanced';

/** Included in the price of each hyperdisk-balanced disk; throughput in MB/s. */
export const defaultIops = 3_000;
export const defaultThroughput = 140;

/** Hyperdisk has at most 0.25 MB/s per IOPS, so a higher throughput needs more IOPS (Google's documentation of Hyperdisk). */
export const iopsFor = (throughput: number): number => Math.max(defaultIops, Math.ceil(throughput * 4));

/** A server without a hypervisor; Ropewalk launches none, as on EC2. */
export const isBareMetal = (machineType: string): boolean => machineType.endsWith('-metal');

/** Machine families with built-in GPUs, and N1 with attached ones. */
export const hasGpu = (name: string): boolean => /^[ag]\d+[a-z]*-/.test(name) || name.includes('+');

/**
 * H4D, Z3 with more than 18,000 GiB of local disks, and GPU types must terminate for host maintenance; Google refuses to create
 * them otherwise (its documentation of host maintenance, 2026-09).
 */
export const canMigrate = (name: string): boolean =>
  !hasGpu(name) && !/^h4d-|^z3-highmem-(88(-highlssd)?|176(-standardlssd)?)$/.test(name);
