// The cluster workflow: one per cluster, including the cluster whose instances run a job's tasks.
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
import type { Moment, NumberedEvent } from '../domain/cluster/history.ts';
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
  /** Version of the newest view that was sent to the database. */
  version: 'cluster.version',
} as const;

export interface ClusterInput {
  number: number;
  workspace: string;
  admissionId: string;
  user: string;
  deploymentId: string;
  /** Set by its job; null when the specification contains the settings. */
  settings: ClusterSettings | null;
  /** Null for a job's cluster. */
  specRef: string | null;
  name: string;
  carry?: ClusterState;
}
/** The user who asks, and the sequence number of the reservation. Among requests of one kind, the newest number counts. */
export interface AskedBy {
  by: string;
  seq: number;
}
export interface ScaleSignal extends AskedBy {
  instances: number;
}
/** From its job: instances that hold no tasks and will get none. */
export interface ReleaseInstancesSignal {
  instances: string[];
}
/** Null turns adaptive scaling off. Counts are workers. */
export interface AdaptSignal extends AskedBy {
  adaptive: Adaptive | null;
}
/** A client exists; with a timeout, the cluster ends when no client has existed for that long. */
export interface KeepaliveSignal {
  noClientTimeoutMs: number | null;
}
export interface StopSignal {
  code: string;
  text: string;
  by?: string;
}
/** A used-up budget forbids launches; null allows them again. */
export interface HoldSignal {
  why: { code: string; text: string } | null;
}
export interface SuspectSignal {
  /** With the time when each was last heard: the same value twice means silence since then. */
  instances: { instance: string; heardAtMs: number }[];
}
export interface ReportItem {
  instance: string;
  /** Random per agent process: the first process to use an instance id keeps it. */
  bootId: string;
  /** `refused`: the API refused its registration, with the reason as text. */
  kind: 'register' | 'alive' | 'leaving' | 'refused';
  /** The launch of the token that the agent registers with; absent with the instance's own token. */
  launchSeq?: number;
  address: string;
  text: string;
  /** At registration: the public address and name for clients outside, if any. */
  publicAddress?: string;
  hostname?: string;
  /** At registration: uptime of the machine, where the machine is the instance. */
  upForMs?: number;
  process?: ProcessReport;
  /** From the head instance only. */
  scheduler?: SchedulerReport;
  drained?: { id: number; outcome: DrainOutcome }[];
  /** From the head instance: how long its scheduler has not answered, or null when it answers again. */
  unansweredForMs?: number | null;
  /** How the instance got its environment. */
  notes?: InstanceNote[];
  /** The cloud's announcement that it will terminate the instance at that time, or may do so. */
  interruption?: { kind: 'terminate' | 'rebalance'; at: string };
  /** The number of idle GPUs. */
  gpus?: GpuReport;
}
export interface ProcessReport {
  state: DaskProcess['state'];
  name: string;
  stage: string;
  address: string | null;
  /** Set with `error`: a code and a sentence. ENVIRONMENT_FAILED gives the slot up at once. */
  reason: { code: string; text: string } | null;
}
/** Information and orders for agents of a Dask cluster; the head instance's agent drains. */
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
  /** The stages of its start, in order. */
  stages: Stage[];
}
export interface WaitingView {
  sinceMs: number;
  nextTryMs: number;
  /** When the cluster continues or ends with its present instances; null without a limit. */
  untilMs: number | null;
  /** Number of missing instances; `text` has the reason. */
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
  events: NumberedEvent[];
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
  /** Only in views that the workflow sends to the database: ledger entries that are not there yet. */
  costs?: CostInterval[];
  /** The same for history entries. */
  history?: Moment[];
}
export interface DaskView {
  orders: Orders;
  report: SchedulerReport | null;
  reportedAtMs: number | null;
  idleSinceMs: number | null;
  /** It has been idle for long, and has the event IDLE_WARNING. */
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
