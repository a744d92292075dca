// A machine type as Ropewalk names it in offers and requests: the type alone, or with attached GPUs, e.g. `n1-standard-4` or
// `n1-standard-4+nvidia-tesla-t4` or `n1-standard-8+2xnvidia-tesla-t4`. And the kind of boot disk that each family takes.
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

/** Newer families take Hyperdisk only (Google's documentation of machine families, 2026-08). */
export const bootDiskOf = (machineType: string): string =>
  /^(c4|c4a|c4d|n4|n4a|n4d|m4|x4|a4|h4d)-/.test(machineType) ? 'hyperdisk-balanced' : 'pd-balanced';

/** Machine families with GPUs of their own, and N1 with attached ones: their instances cannot migrate. */
export const hasGpu = (name: string): boolean => /^(a2|a3|a4|g2|g4)-/.test(name) || name.includes('+');
