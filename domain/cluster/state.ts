// The state of one cluster: its requested, launched, registered, suspected and ended instances. Plain JSON, changed only by the functions of this
// folder.
import type { InstanceGpus } from '../gpu-use.ts';
import type { Reason } from '../reason.ts';
import type { Adaptive } from './dask/adaptive-settings.ts';
import type { SchedulerReport } from './dask/scheduler-report.ts';
import type { Projection } from '../projection.ts';
import type { CostInterval, InstancePrice, PriceChange } from '../cost/interval.ts';
import type { Market } from '../offers/offer.ts';
import type { Lateness } from './instance/lateness.ts';
import type { History, NumberedEvent } from './history.ts';
import type { ProcessState } from './statuses.ts';
import type { CapacityWait } from './capacity/capacity-wait.ts';
import type { LaunchPlacement, MachineSettings, UnavailableOffer } from './capacity/machine-settings.ts';
import type { Usage } from './usage-note.ts';

export type InstanceRole = 'head' | 'worker';

export interface ClusterSettings {
  name: string;
  /** The job that this cluster works for, or null for a standalone cluster. A job and its cluster share one number. */
  job: number | null;
  /** Target number of instances, the head instance included. */
  instances: number;
  provider: string;
  /** Task queue of the provider's activities; `local/{host}` for the local provider. */
  providerQueue: string;
  instanceVcpus: number;
  registerTimeoutMs: number;
  /** The requested cloud machines; absent where there is no choice, as on a host. */
  machines?: MachineSettings | undefined;
  /** Set for a job that starts all at once: the cluster ends if one of its instances is unavailable. */
  allOrNothing?: true | undefined;
  /** See cost-limit.ts. */
  maxCostMicros?: number | undefined;
  /** Null for a job's cluster, whose instances run tasks, not Dask. */
  dask: DaskSettings | null;
}

/** Conditions under which the workflow, never a client, ends a Dask cluster. */
export interface DaskSettings {
  /** No computation for this long. */
  idleTimeoutMs: number;
  /** No client connected for this long; null until it is requested. */
  noClientTimeoutMs: number | null;
  /** No worker started within this long. */
  startTimeoutMs: number;
  maxLifetimeMs: number | null;
  /** Time for running tasks to finish and data to move before a worker is closed. */
  drainTimeoutMs: number;
  /** Interval of the agents' reports to the API; after three missed ones the provider is asked. */
  aliveEveryMs: number;
  /** The scheduler's process runs, but has not answered its agent for this long. */
  unresponsiveTimeoutMs: number;
  privateToCreator: boolean;
  /** Adaptive scaling from the start; null for a fixed number of workers. */
  adaptive: Adaptive | null;
  /** Vault keys of the agents' sealed bundle and of the cluster's certificate authority; both are deleted when the cluster ends. */
  bundleRef: string;
  caRef: string;
}

/** One live or launching instance. At most one at a time holds a slot; `generation` counts the slot's instances. */
export type ClusterInstance = StartingInstance | ReadyInstance | EndingInstance;

interface InstanceOfSlot {
  id: string;
  slot: number;
  generation: number;
  role: InstanceRole;
  launchSeq: number;
  launchedAtMs: number;
  offer: string;
  zone: string;
  market: Market;
  price: InstancePrice;
  /** Prices after that of its launch, in their order (running-prices.ts); absent where prices do not change. */
  later?: readonly PriceChange[];
  /** Times of the stages that no other field holds. */
  stages: { requestedAtMs: number; runningAtMs?: number; environmentAtMs?: number; daskAtMs?: number };
}

/** Launched; its agent has not registered. */
export interface StartingInstance extends InstanceOfSlot {
  state: 'starting';
  agent: null;
  /** Null until the provider was asked about it. */
  lateness: Lateness | null;
}

/** Its agent has registered. */
export interface ReadyInstance extends InstanceOfSlot {
  state: 'ready';
  agent: RegisteredAgent;
  /** When the workflow last heard the instance: by a report, or by the API's answer to an inspection. */
  heardAtMs: number;
  suspicion: Suspicion | null;
}

/** `error`: lost. `stopping`: its termination is under way, lost or not. */
export interface EndingInstance extends InstanceOfSlot {
  state: 'error' | 'stopping';
  /** Null when its agent never registered. */
  agent: RegisteredAgent | null;
  reason: Reason;
}

/** The agent's information about its instance. */
export interface RegisteredAgent {
  registeredAtMs: number;
  /** The first process wins: another process with the same launch token is refused. */
  bootId: string;
  address: string;
  /** For clients outside; null where there is none. */
  publicAddress: string | null;
  hostname: string | null;
  /** Its Dask process; null until the agent has reported one. */
  process: DaskProcess | null;
  /** Set while it is drained before its termination. */
  drain: Drain | null;
  /** The announced time of the instance's interruption, or null. An interrupted worker no longer holds its slot. */
  terminatesAtMs: number | null;
  /** Absent until the agent has reported GPUs. */
  gpus?: InstanceGpus;
}

/** The Dask scheduler or worker that an instance runs. */
export interface DaskProcess {
  state: ProcessState;
  /** The worker's name in Dask, or `scheduler`. */
  name: string;
  /** Its current stage, e.g. `environment`, `certificate`, `dask`. */
  stage: string;
  /** Comm address, e.g. `tls://10.0.0.4:8786`, once started. */
  address: string | null;
  reason: Reason | null;
  atMs: number;
}

export type DrainOutcome = 'drained' | 'kept' | 'deadline' | 'unknown';

export interface Drain {
  id: number;
  /** The worker's name in Dask. */
  worker: string;
  deadlineMs: number;
  /** Requested by adaptive scaling: an instance whose data cannot move then stays. */
  adaptive: boolean;
  outcome: DrainOutcome | null;
}

export interface DaskState {
  schedulerAddress: string | null;
  report: SchedulerReport | null;
  reportedAtMs: number | null;
  /** By the workflow's clock. */
  idleSinceMs: number | null;
  /** The idle warning was recorded (domain/cluster/idle-warning.ts). */
  idleWarned?: true;
  noClientSinceMs: number | null;
  startedOnce: boolean;
  /** When the head's agent last reported, and when it last did so after a silence; absent until its first report. */
  heard?: { lastMs: number; againMs?: number };
  /** The workflow asks the API when it last heard the head's agent: at `nextMs`, unless a request is under way. */
  headAsked?: { nextMs: number; underWay: boolean };
  /** Since when the scheduler has not answered its agent, and when the agent last reported it; absent while it answers. */
  unresponsive?: { sinceMs: number; saidAtMs: number };
  adaptive: Adaptive | null;
  /** Since when so many workers have sufficed for adaptive scaling; the highest number, with the longest time, first. */
  fewer: { workers: number; sinceMs: number }[];
  nextDrainId: number;
  /** Grows with every change of the agents' orders. */
  ordersVersion: number;
}

/** A silent instance. */
export interface Suspicion {
  /** When the instance was last heard. */
  sinceMs: number;
  /** When the suspicion began; a later report of the agent ends it. */
  raisedAtMs: number;
  /** Consecutive inspections that found it existing and silent while the API was reachable. */
  silent: number;
  /** Consecutive inspections in which its provider did not know it. */
  missing: number;
  inspection: 'wanted' | 'running' | 'done';
  /** When it was last inspected. */
  inspectedAtMs: number;
}

/** The intent of a launch and its slots, written before the call. It is repeated, also by the next run, until its outcome is known. */
export interface Launch {
  seq: number;
  slots: number[];
  atMs: number;
  placement?: LaunchPlacement;
}

export interface LaunchFailure {
  offer: string;
  zone: string;
  market: 'on-demand' | 'spot';
  /** The provider's error code. */
  code: string;
  scope: FailureScope;
  /** One sentence. */
  text: string;
  count: number;
}

/** The scope of a failure, on which alone the plan acts. */
export type FailureScope =
  | 'offer'
  | 'zone'
  | 'subnet'
  | 'market'
  | 'quota'
  | 'account'
  | 'request'
  | 'throttle'
  | 'cloud'
  /** Unknown cause: retried a limited number of times. */
  | 'unknown';

export type SlotHistory = OpenSlot | GivenUpSlot;

export interface OpenSlot {
  givenUp: null;
  /** `generations`: instances of this slot so far. `failures`: those lost or never registered in short succession. */
  generations: number;
  failures: number;
  lastFailureMs: number;
  /** Consecutive instances that never registered. */
  unregistered: number;
}

/** A slot without further instances, with the last reason. */
export interface GivenUpSlot {
  givenUp: Reason;
  generations: number;
}

/** `isOrderly`: stopped, released or interrupted, so the instance's tasks cannot be the cause. */
export interface LostInstance {
  instance: string;
  code: string;
  text: string;
  isOrderly: boolean;
}

export interface ClusterState {
  v: 1;
  number: number;
  workspace: string;
  settings: ClusterSettings;
  createdAtMs: number;
  readyAtMs: number | null;
  endedAtMs: number | null;
  stopRequested: Reason | null;
  target: number;
  nextLaunchSeq: number;
  launches: Launch[];
  launchBackoff: { untilMs: number; delayMs: number } | null;
  /** Consecutive launches without an instance for an unknown reason; 0 after any other outcome. */
  unknownLaunches: number;
  unavailable: UnavailableOffer[];
  waiting: CapacityWait | null;
  /** When the last wait for capacity ended, or null. */
  waitedUntilMs: number | null;
  slots: Record<string, SlotHistory>;
  /** Present while instances never register: the first canary launch, and how many canaries have failed. */
  canary?: { fromSeq: number; failed: number };
  instances: ClusterInstance[];
  /** Failures grouped by code, with the count and the newest text. */
  failures: Record<string, { count: number; text: string; lastAtMs: number }>;
  /** Lost instances that were not yet reported to the job. */
  lostToReport: LostInstance[];
  /** The job was notified that its cluster ends. */
  jobNotified: boolean;
  alarm: Reason | null;
  /** The newest ones; the history has all. */
  events: NumberedEvent[];
  /** Numbers of the newest requests of each kind; absent until the first numbered one. */
  asked?: { scale?: number; adapt?: number };
  /** The usage last written to its reservation; absent until the first request for another size. */
  usageNoted?: Usage;
  projection: Projection;
  /** See domain/cost/ledger.ts. `endedMicros`: the cost of ended instances. */
  costs: CostInterval[];
  endedMicros?: number;
  history: History;
  costWarned?: true;
  /** The workflow reads the prices of its instances again (running-prices.ts): at `nextMs`, unless a read is under way. */
  pricesAsked?: { nextMs: number; underWay: boolean; changes: number };
  /** Why a budget forbids launches, if one does. */
  hold?: Reason;
  terminated: number;
  launched: number;
  dask: DaskState | null;
}
