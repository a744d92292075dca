// The contract of a provider. Every provider passes the suite test/providers/contract.ts, which checks each promise below. Ids,
// tags and tokens come from the caller; a provider keeps no state that a crash could lose.
import type { IngressRules } from '../domain/cluster/capacity/ingress-rules.ts';
import type { RolePlacement } from '../domain/cluster/capacity/machine-settings.ts';
import type { FailureScope, InstanceRole, LaunchFailure } from '../domain/cluster/state.ts';
import type { DiskSizes, InstancePrice, Lifetime } from '../domain/cost/interval.ts';
import type { CloudResource } from '../domain/cloud-resource.ts';
import type { Market, Offer } from '../domain/offers/offer.ts';
import type { Owner } from '../domain/owner.ts';

export interface OfferQuery {
  region?: string;
}

/**
 * The acceptable instances of one role, decided and recorded before the call: a repeated launch must ask for the same, or the
 * cloud would launch others.
 */
export type Placement = RolePlacement;

export interface LaunchRequest {
  owner: Owner;
  clusterName: string;
  /** The same token always means the same instances, also from another process, also after a crash. */
  token: string;
  /** One entry for each instance. */
  slots: { slot: number; generation: number; role: InstanceRole }[];
  /** For clouds only. With `oneZone` all instances of the launch are in the same zone. */
  placement?: {
    head: Placement;
    worker: Placement;
    oneZone: boolean;
    ingress?: IngressRules;
    /** The user's own tags, for everything that the launch creates. They never replace those that name the owner. */
    tags?: Record<string, string>;
  };
  /** The address of the API for agents, and the credential with which they register: a secret. */
  apiUrl: string;
  launchToken: string;
}

export interface LaunchedInstance {
  id: string;
  slot: number;
  offer: string;
  zone: string;
  /** Now; absent where the provider knows none. */
  price?: InstancePrice;
}

export interface LaunchOutcome {
  launched: LaunchedInstance[];
  /** Partial success is normal: `launched.length` plus the failures' counts is the number of requested instances. */
  failures: LaunchFailure[];
}

export type ObservedState = 'starting' | 'running' | 'stopping' | 'gone';

export interface ObservedInstance {
  id: string;
  state: ObservedState;
  owner: Owner;
  launchedAtMs: number;
  /** It ends or has ended because a caller terminated it or its cloud took it back: nothing that ran on it is the reason. */
  wasOrdered?: boolean;
  /** Why it ends or has ended, in the cloud's own words; absent while it lives, and where the cloud knows no reason. */
  whyEnded?: string;
}

/** Array ids of tasks. */
export type TaskIds = Pick<ReadonlySet<number>, 'has'>;

export interface LogQuery {
  owner: Pick<Owner, 'workspace' | 'cluster'>;
  /** Default: the cloud's default region. */
  region?: string;
  /** Default: all. */
  tasks?: TaskIds;
  instance?: string;
  sinceMs?: number;
  /** Continues with new lines until the signal aborts. */
  follow?: boolean;
  signal?: AbortSignal;
}

export interface LogLine {
  atMs: number;
  instance: string;
  /** Array id of the task that printed it; null for lines of the agent and of Dask. */
  task: number | null;
  attempt: number | null;
  stream: 'stdout' | 'stderr' | 'agent';
  text: string;
}

export interface Provider {
  readonly name: string;
  /** Everything that can be launched, with prices. Changes nothing. */
  offers(query: OfferQuery): Promise<Offer[]>;
  /** Idempotent by token. Rejects only when the outcome is unknown; the caller then repeats it with the same token. */
  launch(request: LaunchRequest): Promise<LaunchOutcome>;
  /** Every instance tagged with this owner that is not gone, and those of `ids` with their true state. */
  describe(owner: Owner, ids: string[]): Promise<ObservedInstance[]>;
  /**
   * When each of `ids` was launched and ended, by the cloud's own clock, for those that have ended and that it still shows.
   * `diskGib` prices the disks of instances that no launch has returned. Absent where instances cost nothing.
   */
  lifetimes?(owner: Owner, ids: string[], diskGib?: DiskSizes): Promise<Lifetime[]>;
  /** Every instance tagged with this deployment that is not gone. Never an instance of another deployment or without tags. */
  list(deploymentId: string): Promise<ObservedInstance[]>;
  /** Idempotent; unknown ids are no error. Resolves when every instance of `ids`, and everything it started, is gone. */
  terminate(owner: Owner, ids: string[], signal: AbortSignal): Promise<void>;
  /**
   * Other cloud resources with this deployment's tags that nothing uses: a volume of an instance that is not gone is not
   * listed. Never a resource of another deployment or without tags.
   */
  listResources(deploymentId: string): Promise<CloudResource[]>;
  /**
   * Idempotent; unknown ids are no error, and another owner's resources are never touched. Resolves when none of `ids` exists
   * any more; rejects when one of them is still in use.
   */
  deleteResources(owner: Owner, ids: string[], signal: AbortSignal): Promise<void>;
  /** Deletes what was created for the owner as a whole, when all its instances are gone and nothing more is launched for it. */
  release?(owner: Owner, signal: AbortSignal): Promise<void>;
  /** Lines in time order per instance. */
  logs(query: LogQuery): AsyncIterable<LogLine>;
}

export type { CloudResource, FailureScope, LaunchFailure, Market, Offer, Owner };
