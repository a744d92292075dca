// What a cloud is to the rest of the house. Each provider passes providers/contract.ts; each method below is a promise
// that the suite checks. Ids, tags and tokens come from the caller; a provider keeps no state that a crash could lose.
import type { Doors } from '../domain/cluster/doors.ts';
import type { FailureScope, InstanceRole, LaunchFailure } from '../domain/cluster/state.ts';
import type { Belonging } from '../domain/belonging.ts';
import type { Architecture, Market, Offer } from '../domain/offers/offer.ts';
import type { Owner } from '../domain/owner.ts';

export interface OfferQuery {
  region?: string;
}

/**
 * Which instances of one role will do, decided and recorded before the call: a launch that is repeated must ask for the
 * very same, or the cloud would give others.
 */
export interface Placement {
  /** Instance types, the most wanted first; the cloud is asked for all of them at once. */
  types: string[];
  architecture: Architecture;
  market: Market;
  /** Zones that will do; every zone of the network when empty. */
  zones: string[];
  diskGib: number;
}

export interface LaunchRequest {
  owner: Owner;
  clusterName: string;
  /** The same token always means the same instances, also from another process, also after a crash. */
  token: string;
  /** One entry per instance wanted. */
  slots: { slot: number; generation: number; role: InstanceRole }[];
  /** For clouds, which have a choice. With `oneZone` all instances of the launch are in the same zone. */
  placement?: { head: Placement; worker: Placement; oneZone: boolean; doors?: Doors };
  /** Where agents find the API, and the credential with which they register: a secret. */
  apiUrl: string;
  launchToken: string;
}

export interface LaunchedInstance {
  id: string;
  slot: number;
  offer: string;
  zone: string;
}

export interface LaunchOutcome {
  launched: LaunchedInstance[];
  /** Partial success is normal: launched.length plus the failures' counts is what was asked. */
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
}

export interface LogQuery {
  owner: Pick<Owner, 'workspace' | 'cluster'>;
  /** Of a cloud; the default one when absent. */
  region?: string;
  /** Array ids of tasks; all when absent. */
  tasks?: number[];
  instance?: string;
  sinceMs?: number;
  /** Keep going as lines appear, until the signal aborts. */
  follow?: boolean;
  signal?: AbortSignal;
}

export interface LogLine {
  atMs: number;
  instance: string;
  /** Array id of the task that printed it, or null for the agent's own lines. */
  task: number | null;
  attempt: number | null;
  stream: 'stdout' | 'stderr' | 'agent';
  text: string;
}

export interface Provider {
  readonly name: string;
  /** What can be launched, with prices. Pure reading. */
  offers(query: OfferQuery): Promise<Offer[]>;
  /** Idempotent by token. Rejects only when nothing is known of the outcome; the caller then repeats the same token. */
  launch(request: LaunchRequest): Promise<LaunchOutcome>;
  /** Every instance tagged with this owner that is not gone, and those of `ids` with their true state. */
  describe(owner: Owner, ids: string[]): Promise<ObservedInstance[]>;
  /**
   * Every instance tagged with this deployment that is not gone, whoever in it owns it. Never one of another deployment,
   * and never one without tags.
   */
  list(deploymentId: string): Promise<ObservedInstance[]>;
  /** Idempotent, tolerates unknown ids. Resolves when every instance of `ids`, with all it started, is gone. */
  terminate(owner: Owner, ids: string[], signal: AbortSignal): Promise<void>;
  /**
   * What else carries this deployment's tags and is attached to nothing: a volume of an instance that is not gone is not
   * listed. Never anything of another deployment, and never anything without tags.
   */
  listBelongings(deploymentId: string): Promise<Belonging[]>;
  /**
   * Idempotent, tolerates unknown ids; another owner's are never touched. Resolves when none of `ids` is there any more, and
   * rejects when something still uses one of them.
   */
  removeBelongings(owner: Owner, ids: string[], signal: AbortSignal): Promise<void>;
  /** Nothing more is launched for this owner, and all its instances are gone: what was made for it as a whole goes too. */
  release?(owner: Owner, signal: AbortSignal): Promise<void>;
  /** Lines in time order per instance. */
  logs(query: LogQuery): AsyncIterable<LogLine>;
}

export type { Belonging, FailureScope, LaunchFailure, Market, Offer, Owner };
