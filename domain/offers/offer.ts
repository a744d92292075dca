// Provider-independent terms for offers and their prices, in which instance types are chosen.
export type Market = 'on-demand' | 'spot';
export type Architecture = 'x86_64' | 'arm64';

/** An instance type in a zone, on a market. */
export interface Offer {
  /** Instance type, e.g. `m6i.xlarge`; on a host the provider's name. */
  type: string;
  zone: string;
  market: Market;
  vcpus: number;
  memoryBytes: number;
  architecture: Architecture;
  gpus: number;
  /** The vendor's GPU name, e.g. `T4`, or null. */
  gpuName: string | null;
  /** US dollars; 0 on a host; null when unknown. */
  pricePerHour: number | null;
}
