// A small table of machine types of the emulator's own: the product's knowledge of types is tested against it and must not be its
// source. vCPUs and GiB as Google's documentation lists them (2026-08).
export interface MachineType {
  vcpus: number;
  memoryMb: number;
  architecture: 'X86_64' | 'ARM64';
  /** The type's own accelerators, as on G2 and A2. */
  accelerator: { type: string; count: number } | null;
  /** Only these kinds of disk can be attached. */
  disks: 'persistent' | 'hyperdisk';
  /** Whether its instances move to another host for maintenance; types with accelerators never do. */
  migrates: boolean;
}

const rows: [name: string, vcpus: number, gib: number][] = [
  ['e2-standard-2', 2, 8],
  ['e2-standard-4', 4, 16],
  ['n1-standard-2', 2, 7.5],
  ['n1-standard-4', 4, 15],
  ['n2-standard-2', 2, 8],
  ['n2-standard-4', 4, 16],
  ['n2-standard-8', 8, 32],
  ['n2d-standard-2', 2, 8],
  ['n2-highmem-2', 2, 16],
  ['n2-highcpu-4', 4, 4],
  ['t2a-standard-2', 2, 8],
  ['c4-standard-2', 2, 7],
  ['g2-standard-4', 4, 16],
  ['a3-highgpu-1g', 26, 234],
  ['g4-standard-48', 48, 180],
  ['h4d-standard-192', 192, 720],
  ['z3-highmem-88', 88, 704],
];
const accelerators: Readonly<Record<string, string>> = {
  g2: 'nvidia-l4',
  a3: 'nvidia-h100-80gb',
  g4: 'nvidia-rtx-pro-6000',
};

export const machineTypes: ReadonlyMap<string, MachineType> = new Map(
  rows.map(([name, vcpus, gib]) => {
    const [family = ''] = name.split('-');
    const accelerator = accelerators[family];
    return [
      name,
      {
        vcpus,
        memoryMb: gib * 1024,
        architecture: family === 't2a' ? 'ARM64' : 'X86_64',
        accelerator: accelerator === undefined ? null : { type: accelerator, count: 1 },
        disks: ['c4', 'g4', 'h4d'].includes(family) ? 'hyperdisk' : 'persistent',
        migrates: accelerator === undefined && name !== 'h4d-standard-192' && name !== 'z3-highmem-88',
      },
    ];
  }),
);

const range = (from: number, to: number, step: number): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, at) => from + at * step);
const customCpus: Readonly<Record<string, number[]>> = {
  e2: range(2, 32, 2),
  n1: [1, ...range(2, 96, 2)],
  n2: [...range(2, 32, 2), ...range(36, 128, 4)],
  n2d: [2, 4, 8, 16, 32, 48, 64, 80, 96],
  n4: range(2, 80, 2),
};
/** MB for each vCPU. */
const customMemory: Readonly<Record<string, [number, number]>> = {
  ...{ e2: [512, 8_192], n1: [922, 6_656], n2: [512, 8_192], n2d: [512, 8_192], n4: [2_048, 8_192] },
};

/** GB of one machine. */
const customTotal: Readonly<Record<string, number>> = { e2: 128, n1: 624, n2: 864, n2d: 768, n4: 640 };

/** Also a custom type, which no list has (Google's sample for custom machine types, 2026-08). */
export function machineTypeNamed(name: string): MachineType | undefined {
  const [, family = 'n1', cpus = '', memory = ''] = /^(?:(\w+)-)?custom-(\d+)-(\d+)$/.exec(name) ?? [];
  const [vcpus, memoryMb] = [Number(cpus), Number(memory)];
  const [min, max] = customMemory[family] ?? [0, 0];
  if (customCpus[family]?.includes(vcpus) !== true) return machineTypes.get(name);
  if (memoryMb % 256 !== 0 || memoryMb < min * vcpus || memoryMb > max * vcpus) return undefined;
  if (memoryMb > (customTotal[family] ?? 0) * 1024) return undefined;
  const disks = family === 'n4' ? 'hyperdisk' : 'persistent';
  return { vcpus, memoryMb, architecture: 'X86_64', accelerator: null, disks, migrates: true };
}
