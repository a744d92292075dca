// One instance from its launch to its end, with the price at its launch and later ones: an entry of the cost ledger.
import type { Market } from '../offers/offer.ts';

/** Millionths of a US dollar: sums of them are exact in a double up to nine billion dollars. */
export interface InstancePrice {
  microsPerHour: number;
  /** For the disks that are attached at launch. */
  diskMicrosPerHour: number;
  /** For its public IPv4 address; 0 without one. */
  addressMicrosPerHour: number;
  /** Source of the price, in words, e.g. `list price of us-east-1 as of 2026-11-01`. */
  source: string;
}

/** From a moment on. */
export interface PriceChange {
  fromMs: number;
  /** Of the instance alone. */
  microsPerHour: number;
}

/** What an instance that exists is charged until now. */
export interface RunningCharge extends Pick<InstancePrice, 'microsPerHour' | 'source'> {
  id: string;
  later: readonly PriceChange[];
}

export interface CostInterval extends InstancePrice {
  instance: string;
  role: 'head' | 'worker';
  type: string;
  zone: string;
  market: Market;
  fromMs: number;
  /** Null while the instance exists. */
  toMs: number | null;
  /** Other prices of a spot instance, in their order; absent without any. */
  later?: readonly PriceChange[];
  /** The user's own tags of the cluster; absent without any. */
  tags?: Readonly<Record<string, string>>;
}

/** Disk size of each instance, in GiB. */
export interface DiskSizes {
  head: number;
  worker: number;
}

/** The cloud's own times of an instance that has ended or is ending; the cloud bills by them. */
export interface Lifetime {
  id: string;
  role: 'head' | 'worker';
  type: string;
  zone: string;
  market: Market;
  price: InstancePrice;
  /** Later prices that the cloud charged, after `price` at the launch. Absent when the cloud reports none, and when prices do not change. */
  later?: readonly PriceChange[];
  launchedAtMs: number;
  /** Null where the cloud reports no time, as EC2 for an interrupted spot instance. */
  endedAtMs: number | null;
}

/** For a provider without prices: the instance counts as free, and the source states that the price is unknown. */
export const unknownPrice: InstancePrice = {
  ...{ microsPerHour: 0, diskMicrosPerHour: 0, addressMicrosPerHour: 0, source: 'price unknown' },
};

/** Cost of an instance with its disks and its address. */
export const hourlyMicros = (price: Omit<InstancePrice, 'source'>): number =>
  price.microsPerHour + price.diskMicrosPerHour + price.addressMicrosPerHour;

/** The same at a moment: with the newest price since then. */
export const hourlyMicrosAt = (
  interval: Omit<InstancePrice, 'source'> & Pick<CostInterval, 'later'>,
  atMs: number,
): number => {
  const { microsPerHour } = interval.later?.findLast(({ fromMs }) => fromMs <= atMs) ?? interval;
  return hourlyMicros({ ...interval, microsPerHour });
};

/** Converts US dollars per hour to a price, rounded to a millionth. */
export const microsOf = (dollars: number): number => Math.round(dollars * 1e6);

export const dollarsOf = (micros: number): number => micros / 1e6;
