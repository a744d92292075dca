// What a cluster asks a cloud for: its machines, one launch of them, and the offers that were unavailable.
import type { Architecture, Market } from '../../offers/offer.ts';
import type { IngressRules } from './ingress-rules.ts';

export type SpotPolicy = 'on-demand' | 'spot' | 'spot_with_fallback';

/** What a cluster on a cloud may be made of; the API resolved it from what was on offer. */
export interface MachineSettings {
  /** Instance types, the most wanted first. */
  workerTypes: string[];
  headTypes: string[];
  architecture: Architecture;
  /** For workers; the head instance is always on demand, since everything ends with it. */
  spotPolicy: SpotPolicy;
  region: string;
  /** Zones that will do; never empty. */
  zones: string[];
  /** Otherwise all instances are in one zone. */
  allowCrossZone: boolean;
  /** Of each worker, and of the head instance unless `headDiskGib` is given. */
  diskGib: number;
  headDiskGib?: number | undefined;
  /** MB/s of the workers' disks; the cloud's default when absent. */
  workerDiskThroughput?: number | undefined;
  /** The user's own tags of instances and what belongs to them; absent without any. */
  tags?: Record<string, string> | undefined;
  /** Who may reach the head instance; absent when it is as the account has it. */
  ingress?: IngressRules | undefined;
  /** Set when the user waits for unavailable capacity: this long, then the cluster goes on without. */
  waitForCapacityMs?: number | undefined;
  /** Tasks can use the role or service account of their instance; absent when they cannot. */
  instanceCredentials?: true | undefined;
}

/** What one role is launched as. */
export interface RolePlacement {
  /** Instance types in order of preference; the cloud is asked for all of them at once. */
  types: string[];
  architecture: Architecture;
  market: Market;
  /** Acceptable zones; every zone of the network when empty. */
  zones: string[];
  diskGib: number;
  /** MB/s; the cloud's default when absent. */
  diskThroughput?: number;
}

export interface LaunchPlacement {
  head: RolePlacement;
  worker: RolePlacement;
  oneZone: boolean;
  ingress?: IngressRules;
  tags?: Record<string, string>;
}

/** Something a cloud could not give: not asked for again before `untilMs`. `*` stands for all. */
export interface UnavailableOffer {
  market: Market;
  type: string;
  zone: string;
  untilMs: number;
}
