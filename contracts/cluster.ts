// The cluster workflow: one per cluster, and one per job for the instances that run its tasks.
import type { GpuReport, IdleGpus } from '../domain/gpu-use.ts';
import type { Adaptive } from '../domain/cluster/dask/adaptive-settings.ts';
import type { SchedulerReport } from '../domain/cluster/dask/scheduler-report.ts';
import type {
  ClusterSettings,
  ClusterState,
  DaskProcess,
  DrainOutcome,
  InstanceRole,
} from '../domain/cluster/state.ts';
import type { ClusterOrders } from '../domain/cluster/orders.ts';
import type { CostInterval } from '../domain/cost/interval.ts';
import type { Moment } from '../domain/cluster/history.ts';
import type { InstanceNote } from '../domain/cluster/instance/environment-notes.ts';
import type { ClusterStatus, InstanceState, Stage } from '../domain/cluster/statuses.ts';
import type { Market } from '../domain/offers/offer.ts';
import type { Reason } from '../domain/reason.ts';

export const clusterType = 'cluster';
export const clusterWorkflowId = (number: number): string => `cluster/${number}`;

export const clusterMessages = {
  scale: 'cluster.scale',
  releaseInstances: 'cluster.releaseInstances',
  suspect: 'cluster.suspect',
  stop: 'cluster.stop',
  hold: 'cluster.hold',
  adapt: 'cluster.adapt',
  keepalive: 'cluster.keepalive',
  report: 'cluster.report',
  view: 'cluster.view',
  /** Of the newest view that was handed to the database. */
  version: 'cluster.version',
} as const;

export interface ClusterInput {
  number: number;
  workspace: string;
  admissionId: string;
  user: string;
  deploymentId: string;
  /** Given by its job; null when the specification says it. */
  settings: ClusterSettings | null;
  /** Null for a job's cluster. */
  specRef: string | null;
  name: string;
  carry?: ClusterState;
}
/** Who asks, and the sequence number of the reservation: of those of a kind, the newest counts. */
export interface AskedBy {
  by: string;
  seq: number;
}
export interface ScaleSignal extends AskedBy {
  instances: number;
}
/** From its job: instances that hold no task and get none any more. */
export interface ReleaseInstancesSignal {
  instances: string[];
}
/** Null turns adaptive scaling off. Counts are workers. */
export interface AdaptSignal extends AskedBy {
  adaptive: Adaptive | null;
}
/** A client is there; with a timeout, the cluster ends when none has been for that long. */
export interface KeepaliveSignal {
  noClientTimeoutMs: number | null;
}
export interface StopSignal {
  code: string;
  text: string;
  by?: string;
}
/** A used-up budget forbids launches, or (null) allows them again. */
export interface HoldSignal {
  why: { code: string; text: string } | null;
}
export interface SuspectSignal {
  /** With the last time each was heard: the same value twice means silence since. */
  instances: { instance: string; heardAtMs: number }[];
}
export interface ReportItem {
  instance: string;
  /** Random per agent process: first use of an instance id wins. */
  bootId: string;
  /** `refused`: the API refused its registration, with the reason as text. */
  kind: 'register' | 'alive' | 'leaving' | 'refused';
  /** Of the launch whose token it registers with; absent with a token of its own. */
  launchSeq?: number;
  address: string;
  text: string;
  /** When it registers, where clients outside can reach it: its public address and name. */
  publicAddress?: string;
  hostname?: string;
  /** When it registers: how long its machine is up, where the machine is the instance. */
  upForMs?: number;
  process?: ProcessReport;
  /** From the head instance only. */
  scheduler?: SchedulerReport;
  drained?: { id: number; outcome: DrainOutcome }[];
  /** From the head instance: how long its scheduler has not answered, or null when it does again. */
  unansweredForMs?: number | null;
  /** How it came to its environment. */
  notes?: InstanceNote[];
  /** Its cloud is about to take it at that time, or says that it may. */
  interruption?: { kind: 'terminate' | 'rebalance'; at: string };
  /** How many of its GPUs do nothing. */
  gpus?: GpuReport;
}
export interface ProcessReport {
  state: DaskProcess['state'];
  name: string;
  stage: string;
  address: string | null;
  /** Set with `error`: a short code and a sentence. ENVIRONMENT_FAILED gives the slot up at once. */
  reason: { code: string; text: string } | null;
}
/** What agents of a Dask cluster have to know and do; the head instance's agent drains. */
export type Orders = ClusterOrders;
export interface ReportAnswer {
  orders: Orders | null;
  role: InstanceRole;
  clusterName: string;
  job: number | null;
  headAddress: string | null;
  stop: { code: string; text: string } | null;
}
export interface InstanceView {
  id: string;
  role: InstanceRole;
  state: InstanceState;
  slot: number;
  generation: number;
  address: string | null;
  publicAddress: string | null;
  hostname: string | null;
  /** Its instance type and market. */
  type: string;
  market: Market;
  launchedAtMs: number;
  registeredAtMs: number | null;
  reason: Reason | null;
  process: DaskProcess | null;
  /** How it came up, in order. */
  stages: Stage[];
}
export interface WaitingView {
  sinceMs: number;
  nextTryMs: number;
  /** When the cluster continues, or ends, with the instances that it has; null without a limit. */
  untilMs: number | null;
  /** Instances that are missing, and why. */
  missing: number;
  text: string;
}
export interface ClusterView {
  number: number;
  workspace: string;
  name: string;
  job: number | null;
  user: string;
  status: ClusterStatus;
  reason: Reason | null;
  target: number;
  provider: string;
  instances: InstanceView[];
  failures: { code: string; text: string; count: number; lastAtMs: number }[];
  events: { atMs: number; code: string; text: string; by?: string }[];
  createdAtMs: number;
  readyAtMs: number | null;
  endedAtMs: number | null;
  launched: number;
  terminated: number;
  /** Null where there are no regions. */
  region: string | null;
  /** Capacity is unavailable. */
  waiting: WaitingView | null;
  dask: DaskView | null;
  /** Null or absent until an instance has reported GPUs. */
  gpus?: IdleGpus | null;
  /** Only in what the workflow hands over: entries of the cost ledger that the database does not have yet. */
  costs?: CostInterval[];
  /** The same of its history. */
  history?: Moment[];
}
export interface DaskView {
  orders: Orders;
  report: SchedulerReport | null;
  reportedAtMs: number | null;
  idleSinceMs: number | null;
  /** It has done nothing for long, and has the event IDLE_WARNING. */
  idleWarned?: true;
  unresponsiveSinceMs: number | null;
  adaptive: Adaptive | null;
  workersWanted: number;
  workersStarted: number;
  workersErrored: number;
  privateToCreator: boolean;
  noClientTimeoutMs: number | null;
  /** Vault key of the cluster's certificate authority. */
  caRef: string;
}
