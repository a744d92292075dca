// What providers offer, and its price: the terms in which instance types of any provider are chosen.
export type Market = 'on-demand' | 'spot';
export type Architecture = 'x86_64' | 'arm64';

/** Something that a provider can launch: an instance type in a zone, on a market. */
export interface Offer {
  /** Instance type, e.g. `m6i.xlarge`; on this machine the name of its provider. */
  type: string;
  zone: string;
  market: Market;
  vcpus: number;
  memoryBytes: number;
  architecture: Architecture;
  gpus: number;
  /** The vendor's name of the GPU, e.g. `T4`, or null. */
  gpuName: string | null;
  /** US dollars; 0 on this machine; null when the price is unknown. */
  pricePerHour: number | null;
}
