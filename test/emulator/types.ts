// A small dated table of instance types, of the emulator's own: the product's knowledge of types is tested against it and must
// not be its source. vCPUs, GiB and us-east-1 Linux on-demand prices as AWS listed them in 2026-08.

export interface InstanceType {
  name: string;
  vcpus: number;
  memoryMib: number;
  arch: 'x86_64' | 'arm64';
  gpus: number;
  gpuName: string | null;
  /** The vCPU quota that it draws on. */
  quotaClass: 'standard' | 'g' | 'p';
  pricePerHour: number;
}

const rows: [name: string, vcpus: number, gib: number, price: number][] = [
  ['t3.micro', 2, 1, 0.0104],
  ['t3.medium', 2, 4, 0.0416],
  ['t3.large', 2, 8, 0.0832],
  ['t3.xlarge', 4, 16, 0.1664],
  ['m5.large', 2, 8, 0.096],
  ['m5.xlarge', 4, 16, 0.192],
  ['m6i.large', 2, 8, 0.096],
  ['m6i.xlarge', 4, 16, 0.192],
  ['m6i.2xlarge', 8, 32, 0.384],
  ['m6i.4xlarge', 16, 64, 0.768],
  ['m7i.large', 2, 8, 0.1008],
  ['m7i.xlarge', 4, 16, 0.2016],
  ['m7i.2xlarge', 8, 32, 0.4032],
  ['c6i.large', 2, 4, 0.085],
  ['c6i.xlarge', 4, 8, 0.17],
  ['c6i.2xlarge', 8, 16, 0.34],
  ['r6i.large', 2, 16, 0.126],
  ['r6i.xlarge', 4, 32, 0.252],
  ['r6i.2xlarge', 8, 64, 0.504],
  ['m6g.large', 2, 8, 0.077],
  ['m6g.xlarge', 4, 16, 0.154],
  ['m7g.large', 2, 8, 0.0816],
  ['m7g.xlarge', 4, 16, 0.1632],
  ['g4dn.xlarge', 4, 16, 0.526],
  ['g4dn.12xlarge', 48, 192, 3.912],
  ['p3.2xlarge', 8, 61, 3.06],
];

const gpusOf: Record<string, [count: number, name: string]> = {
  'g4dn.xlarge': [1, 'T4'],
  'g4dn.12xlarge': [4, 'T4'],
  'p3.2xlarge': [1, 'V100'],
};

export const instanceTypes: ReadonlyMap<string, InstanceType> = new Map(
  rows.map(([name, vcpus, gib, pricePerHour]) => {
    const [gpus, gpuName] = gpusOf[name] ?? [0, null];
    const arch = /^[a-z]+\d+g/.test(name) ? 'arm64' : 'x86_64';
    const quotaClass = name.startsWith('g') ? 'g' : name.startsWith('p') ? 'p' : 'standard';
    return [name, { name, vcpus, memoryMib: gib * 1024, arch, gpus, gpuName, quotaClass, pricePerHour }] as const;
  }),
);

/** Spot costs about a third here; the exact share does not matter. */
export const priceOf = (type: InstanceType, market: 'on-demand' | 'spot'): number =>
  market === 'spot' ? type.pricePerHour * 0.35 : type.pricePerHour;
