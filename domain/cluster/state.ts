// The state of one cluster: the instances asked for, launched, registered, suspected and gone. Plain JSON, changed only
// by the functions of this folder.
import type { Reason } from '../reason.ts';

export type ClusterStatus = 'pending' | 'starting' | 'scaling' | 'ready' | 'stopping' | 'stopped' | 'error';
export type InstanceState = 'queued' | 'starting' | 'started' | 'ready' | 'stopping' | 'stopped' | 'error';
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
}

/** One live or launching instance. A slot holds at most one at a time; `generation` counts its tries. */
export interface ClusterInstance {
  id: string;
  slot: number;
  generation: number;
  role: InstanceRole;
  state: InstanceState;
  launchSeq: number;
  launchedAtMs: number;
  registeredAtMs: number | null;
  /** First use wins: another process with the same launch token is refused. */
  bootId: string | null;
  address: string | null;
  offer: string;
  zone: string;
  reason: Reason | null;
  suspicion: Suspicion | null;
}

/** Its job has not heard of it since `sinceMs`. */
export interface Suspicion {
  sinceMs: number;
  /** Inspections that found it existing but silent while our own link worked. */
  silent: number;
  inspection: 'wanted' | 'under way' | 'done';
}

/** Intent, written before the call: which slots this launch fills. */
export interface Launch {
  seq: number;
  slots: number[];
  atMs: number;
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
  | 'cloud';

export interface SlotHistory {
  /** Instances this slot has had. */
  generations: number;
  /** Instances lost or never registered in short succession. */
  failures: number;
  lastFailureMs: number;
  /** Given up: no more instance for this slot, with the last reason. */
  givenUp: Reason | null;
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
  slots: Record<string, SlotHistory>;
  instances: ClusterInstance[];
  /** Grouped failures, newest reason kept: code -> count and text. */
  failures: Record<string, { count: number; text: string; lastAtMs: number }>;
  /** Lost instances the job has yet to be told of. */
  lostToTell: { instance: string; code: string; text: string }[];
  /** The job has been told that its cluster ends without it. */
  jobTold: boolean;
  alarm: Reason | null;
  events: { atMs: number; code: string; text: string }[];
  terminated: number;
  launched: number;
}
