// A small table of machine types of the emulator's own: what the product believes about types is tested against it, so it must
// not come from the product. vCPUs and GiB as Google's documentation lists them (2026-08).
export interface MachineType {
  vcpus: number;
  memoryMb: number;
  architecture: 'X86_64' | 'ARM64';
  /** Of the type itself, as on G2 and A2. */
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
