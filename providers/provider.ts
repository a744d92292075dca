// The contract of a provider. Every provider passes the suite test/providers/contract.ts, which checks each guarantee below.
// Ids, tags and tokens come from the caller; a provider keeps no state that a crash could lose.
import type { IngressRules } from '../domain/cluster/capacity/ingress-rules.ts';
import type { RolePlacement } from '../domain/cluster/capacity/machine-settings.ts';
import type { FailureScope, InstanceRole, LaunchFailure } from '../domain/cluster/state.ts';
import type { LaunchedInstance } from '../domain/cluster/instance/launched.ts';
import type { DiskSizes, Lifetime, RunningCharge } from '../domain/cost/interval.ts';
import type { CloudResource } from '../domain/cloud-resource.ts';
import type { Market, Offer } from '../domain/offers/offer.ts';
import type { Owner } from '../domain/owner.ts';

export interface OfferQuery {
  region?: string;
}

/**
 * The acceptable instances of one role, decided and recorded before the call: a repeated launch must request the same ones, or
 * the cloud would launch others.
 */
export type Placement = RolePlacement;

export interface LaunchRequest {
  owner: Owner;
  clusterName: string;
  /** The same token always returns the same instances, also from another process and after a crash. */
  token: string;
  /** One entry for each instance. */
  slots: { slot: number; generation: number; role: InstanceRole }[];
  /** For clouds only. With `oneZone` all instances of the launch are in the same zone. */
  placement?: {
    head: Placement;
    worker: Placement;
    oneZone: boolean;
    ingress?: IngressRules;
    /** The user's own tags for all resources of the launch. They never replace the owner's tags. */
    tags?: Record<string, string>;
  };
  /** The API's address for agents, and their registration credential: a secret. */
  apiUrl: string;
  launchToken: string;
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
  /** Its end was ordered: a caller terminated it or its cloud interrupted it, so no program on it is the reason. */
  wasOrdered?: boolean;
  /** The cloud's reason for its end; absent while it exists, and where the cloud reports none. */
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
  /** Every launchable offer, with prices. Changes nothing. */
  offers(query: OfferQuery): Promise<Offer[]>;
  /** Idempotent by token. Rejects only when the outcome is unknown; the caller then repeats it with the same token. */
  launch(request: LaunchRequest): Promise<LaunchOutcome>;
  /** Every existing instance with this owner's tags, and those of `ids` with their true state. */
  describe(owner: Owner, ids: string[]): Promise<ObservedInstance[]>;
  /**
   * Launch and end times by the cloud's clock, for those of `ids` that have ended and that it still shows. `diskGib` prices the
   * disks of instances that no launch has returned. Absent where instances cost nothing.
   */
  lifetimes?(owner: Owner, ids: string[], diskGib?: DiskSizes): Promise<Lifetime[]>;
  /** The charges of those of `ids` that exist and whose price changes. Absent where no price does. */
  charges?(owner: Owner, ids: string[]): Promise<RunningCharge[]>;
  /** Every existing instance with this deployment's tags. Never an instance of another deployment or without tags. */
  list(deploymentId: string): Promise<ObservedInstance[]>;
  /** Idempotent; ignores unknown ids. Resolves when every instance of `ids`, and everything it started, has ended. */
  terminate(owner: Owner, ids: string[], signal: AbortSignal): Promise<void>;
  /**
   * Other unused cloud resources with this deployment's tags: a volume of an existing instance is not listed. Never a resource
   * of another deployment or without tags.
   */
  listResources(deploymentId: string): Promise<CloudResource[]>;
  /**
   * Idempotent; ignores unknown ids, and never touches another owner's resources. Resolves when none of `ids` exists; rejects
   * when one of them is still in use.
   */
  deleteResources(owner: Owner, ids: string[], signal: AbortSignal): Promise<void>;
  /** Deletes the owner-wide resources, after all its instances have ended and nothing more is launched for it. */
  release?(owner: Owner, signal: AbortSignal): Promise<void>;
  /** Lines in time order per instance. */
  logs(query: LogQuery): AsyncIterable<LogLine>;
}

export type { CloudResource, FailureScope, LaunchedInstance, LaunchFailure, Market, Offer, Owner };
