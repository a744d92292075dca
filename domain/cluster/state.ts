// The state of one cluster: the instances asked for, launched, registered, suspected and gone. Plain JSON, changed only
// by the functions of this folder.
import type { InstanceGpus } from '../gpu-use.ts';
import type { Reason } from '../reason.ts';
import type { Adaptive } from './dask/adaptive-settings.ts';
import type { SchedulerReport } from './dask/scheduler-report.ts';
import type { Projection } from '../projection.ts';
import type { CostInterval, InstancePrice } from '../cost/interval.ts';
import type { Market } from '../offers/offer.ts';
import type { Lateness } from './instance/lateness.ts';
import type { History } from './history.ts';
import type { ProcessState } from './statuses.ts';
import type { CapacityWait } from './capacity/capacity-wait.ts';
import type { LaunchPlacement, MachineSettings, UnavailableOffer } from './capacity/machine-settings.ts';
import type { Usage } from './usage-note.ts';

export type InstanceRole = 'head' | 'worker';

export interface ClusterSettings {
  name: string;
  /** The job this cluster works for, or null for a cluster of its own. They share the number. */
  job: number | null;
  /** Instances wanted, the head instance included. */
  instances: number;
  provider: string;
  /** Task queue of the provider's activities; `local/{host}` for the local provider. */
  providerQueue: string;
  instanceVcpus: number;
  registerTimeoutMs: number;
  /** What a cloud is asked for; absent where there is no choice, as on this machine. */
  machines?: MachineSettings | undefined;
  /** Of a job that starts all at once: without one of its instances the cluster ends. */
  allOrNothing?: true | undefined;
  /** See cost-limit.ts. */
  maxCostMicros?: number | undefined;
  /** Null for a job's cluster: its instances run tasks, not Dask. */
  dask: DaskSettings | null;
}

/** When the workflow, never a client, ends a Dask cluster. */
export interface DaskSettings {
  /** Nothing computed for this long. */
  idleTimeoutMs: number;
  /** No client connected for this long; null until it is requested. */
  noClientTimeoutMs: number | null;
  /** Not one worker started within this long. */
  startTimeoutMs: number;
  maxLifetimeMs: number | null;
  /** Time for running tasks to finish and data to move before a worker is closed. */
  drainTimeoutMs: number;
  /** Agents speak to the API this often; after three times as long without a word the provider is asked. */
  aliveEveryMs: number;
  /** The scheduler runs and has not answered its agent for this long. */
  unresponsiveTimeoutMs: number;
  privateToCreator: boolean;
  /** Adaptive scaling from the start; null for a fixed number of workers. */
  adaptive: Adaptive | null;
  /** Vault keys of what its agents run and of its certificate authority; both are deleted when it ends. */
  bundleRef: string;
  caRef: string;
}

/** One live or launching instance. A slot is claimed by at most one at a time; `generation` counts its tries. */
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
  /** When it reached what has no time of its own elsewhere. */
  stages: { requestedAtMs: number; runningAtMs?: number; environmentAtMs?: number; daskAtMs?: number };
}

/** Launched; its agent has not registered. */
export interface StartingInstance extends InstanceOfSlot {
  state: 'starting';
  agent: null;
  /** Null until its provider is asked about it. */
  lateness: Lateness | null;
}

/** Its agent has registered. */
export interface ReadyInstance extends InstanceOfSlot {
  state: 'ready';
  agent: RegisteredAgent;
  /** The last sign of life that the workflow knows: a report, or what the API said when it was asked. */
  heardAtMs: number;
  suspicion: Suspicion | null;
}

/** `error`: lost. `stopping`: it is being terminated, lost or not. */
export interface EndingInstance extends InstanceOfSlot {
  state: 'error' | 'stopping';
  /** Null when it never registered. */
  agent: RegisteredAgent | null;
  reason: Reason;
}

/** What an agent has said of its instance. */
export interface RegisteredAgent {
  registeredAtMs: number;
  /** First use wins: another process with the same launch token is refused. */
  bootId: string;
  address: string;
  /** For clients outside; null where it has none. */
  publicAddress: string | null;
  hostname: string | null;
  /** Its Dask process, once the agent has spoken of one. */
  process: DaskProcess | null;
  /** It is being emptied before it is terminated. */
  drain: Drain | null;
  /** The cloud has said that it interrupts the instance then; null for all others. A worker then claims its slot no more. */
  terminatesAtMs: number | null;
  /** Absent until it has reported some. */
  gpus?: InstanceGpus;
}

/** The Dask scheduler or worker that an instance runs. */
export interface DaskProcess {
  state: ProcessState;
  /** The worker's name in Dask, or `scheduler`. */
  name: string;
  /** What it is doing, e.g. `environment`, `certificate`, `dask`. */
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
  /** Asked for by adaptive scaling: then an instance whose data cannot move stays. */
  adaptive: boolean;
  outcome: DrainOutcome | null;
}

export interface DaskState {
  schedulerAddress: string | null;
  report: SchedulerReport | null;
  reportedAtMs: number | null;
  /** On the workflow's clock. */
  idleSinceMs: number | null;
  /** The event of having done nothing for long is noted (domain/cluster/idle-warning.ts). */
  idleWarned?: true;
  noClientSinceMs: number | null;
  startedOnce: boolean;
  /** When the head's agent last spoke, and when it last did so after a silence; absent until it has spoken. */
  heard?: { lastMs: number; againMs?: number };
  /** The API is asked when it last heard the head's agent: at the next moment, unless that is under way. */
  headAsked?: { nextMs: number; underWay: boolean };
  /** Since when the scheduler does not answer its agent, and when that was last said; absent while it does. */
  unresponsive?: { sinceMs: number; saidAtMs: number };
  adaptive: Adaptive | null;
  /** Since when so many workers have been enough for adaptive scaling; the most workers, and the longest time, first. */
  fewer: { workers: number; sinceMs: number }[];
  nextDrainId: number;
  /** Grows with every change of the orders for agents. */
  ordersVersion: number;
}

/** An instance that was not heard from. */
export interface Suspicion {
  /** The last sign of life that is known. */
  sinceMs: number;
  /** When the suspicion began: a later sign of life ends it. */
  raisedAtMs: number;
  /** Inspections in a row that found it existing but silent while our own link worked. */
  silent: number;
  /** Inspections in a row in which its provider did not know it. */
  missing: number;
  inspection: 'wanted' | 'running' | 'done';
  /** When it was inspected last. */
  inspectedAtMs: number;
}

/** Intent, written before the call: which slots this launch fills. It is carried out until its outcome is known, also by the next run. */
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
  /** The provider's own code. */
  code: string;
  scope: FailureScope;
  /** A sentence for people. */
  text: string;
  count: number;
}

/** How far a failure reaches; the plan acts on this alone. */
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
  /** Of unknown cause: tried again, but only so often. */
  | 'unknown';

export type SlotHistory = OpenSlot | GivenUpSlot;

export interface OpenSlot {
  givenUp: null;
  /** Instances this slot has had, and those lost or never registered in short succession. */
  generations: number;
  failures: number;
  lastFailureMs: number;
  /** In a row never registered. */
  unregistered: number;
}

/** No more instance for this slot, with the last reason. */
export interface GivenUpSlot {
  givenUp: Reason;
  generations: number;
}

/** `isOrderly`: stopped, released or interrupted; nothing that ran there can be the reason. */
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
  /** Launches in a row that gave nothing for a reason that is not understood; 0 when the last one was understood. */
  unknownLaunches: number;
  unavailable: UnavailableOffer[];
  waiting: CapacityWait | null;
  /** When the last wait ended; null when there was none. */
  waitedUntilMs: number | null;
  slots: Record<string, SlotHistory>;
  /** Absent unless instances never registered, and none has since: launches from then on, and how many of their instances failed so. */
  canary?: { fromSeq: number; failed: number };
  instances: ClusterInstance[];
  /** Grouped failures, newest reason kept: code -> count and text. */
  failures: Record<string, { count: number; text: string; lastAtMs: number }>;
  /** Lost instances of which the job has yet to be notified. */
  lostToReport: LostInstance[];
  /** The job has been notified that its cluster ends without it. */
  jobNotified: boolean;
  alarm: Reason | null;
  /** `by`: the user who asked for it, when one did. */
  events: { atMs: number; code: string; text: string; by?: string }[];
  /** Numbers of the newest requests of each kind; absent until there was a numbered one. */
  asked?: { scale?: number; adapt?: number };
  /** The usage that was last written to its reservation; absent until it was asked for another size. */
  usageNoted?: Usage;
  projection: Projection;
  /** See domain/cost/ledger.ts; `endedMicros`: what ended instances have cost. */
  costs: CostInterval[];
  endedMicros?: number;
  history: History;
  costWarned?: true;
  /** Why a budget forbids launches; absent when none does. */
  hold?: Reason;
  terminated: number;
  launched: number;
  dask: DaskState | null;
}
