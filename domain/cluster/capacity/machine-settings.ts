// A cluster's requirements for cloud machines, the placement of one launch, and unavailable offers.
import type { Architecture, Market } from '../../offers/offer.ts';
import type { IngressRules } from './ingress-rules.ts';

export type SpotPolicy = 'on-demand' | 'spot' | 'spot_with_fallback';

/** The acceptable machines of a cloud cluster, resolved by the API from the available offers. */
export interface MachineSettings {
  /** Instance types in order of preference. */
  workerTypes: string[];
  headTypes: string[];
  architecture: Architecture;
  /** For workers; the head instance is always on-demand, because the cluster ends with it. */
  spotPolicy: SpotPolicy;
  region: string;
  /** Acceptable zones; never empty. */
  zones: string[];
  /** When false, all instances are in one zone. */
  allowCrossZone: boolean;
  /** Disk size of each worker, and of the head instance unless `headDiskGib` is set. */
  diskGib: number;
  headDiskGib?: number | undefined;
  /** MB/s of the workers' disks; the cloud's default when absent. */
  workerDiskThroughput?: number | undefined;
  /** The user's own tags of instances and their cloud resources; absent when there are none. */
  tags?: Record<string, string> | undefined;
  /** Ingress rules of the head instance; absent to leave them to the account. */
  ingress?: IngressRules | undefined;
  /** Set when the user waits for unavailable capacity: after this time the cluster continues without it. */
  waitForCapacityMs?: number | undefined;
  /** Whether tasks can use the role or service account of their instance; absent when they cannot. */
  instanceCredentials?: true | undefined;
}

/** The machines of one role in a launch. */
export interface RolePlacement {
  /** Instance types in order of preference; one request to the cloud names all of them. */
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

/** An offer that was unavailable: not requested again before `untilMs`. `*` matches everything. */
export interface UnavailableOffer {
  market: Market;
  type: string;
  zone: string;
  untilMs: number;
}
