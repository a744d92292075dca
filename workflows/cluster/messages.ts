// The cluster workflow: one per cluster, and one per job for the instances that run its tasks.
import type {
  ClusterSettings,
  ClusterState,
  ClusterStatus,
  InstanceRole,
  InstanceState,
} from '../../domain/cluster/state.ts';
import type { Reason } from '../../domain/reason.ts';

export const clusterType = 'cluster';
export const clusterWorkflowId = (number: number): string => `cluster/${number}`;

export const clusterMessages = {
  scale: 'cluster.scale',
  suspect: 'cluster.suspect',
  stop: 'cluster.stop',
  report: 'cluster.report',
  view: 'cluster.view',
} as const;

export interface ClusterInput {
  number: number;
  workspace: string;
  admissionId: string;
  user: string;
  deploymentId: string;
  settings: ClusterSettings;
  carry?: ClusterState;
}
export interface ScaleSignal {
  instances: number;
}
export interface StopSignal {
  code: string;
  text: string;
}
export interface SuspectSignal {
  /** With the last time each was heard: the same value twice means silence since. */
  instances: { instance: string; heardAtMs: number }[];
}
export interface ReportItem {
  instance: string;
  /** Random per agent process: first use of an instance id wins. */
  bootId: string;
  kind: 'register' | 'alive' | 'leaving';
  address: string;
  text: string;
}
export interface ReportAnswer {
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
  launchedAtMs: number;
  registeredAtMs: number | null;
  reason: Reason | null;
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
  events: { atMs: number; code: string; text: string }[];
  createdAtMs: number;
  readyAtMs: number | null;
  endedAtMs: number | null;
  launched: number;
  terminated: number;
}
