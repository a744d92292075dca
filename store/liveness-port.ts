// The store's port for the times of agents' last reports.
import type { ReplicaRow } from '../domain/liveness/replicas.ts';

/** An agent that has reported to the API. */
export interface HeardAgent {
  cluster: number;
  instance: string;
  heardAtMs: number;
  /** Start of its reports without a gap. */
  sinceMs: number;
  /** The silence after which it is suspected; null when the caller does not know it: the row's value stays. */
  silentAfterMs: number | null;
}

export interface SilentAgent {
  cluster: number;
  instance: string;
  heardAtMs: number;
}

export interface LivenessStore {
  /** Writes these in one transaction. An older time than the row's changes nothing. */
  note(items: readonly HeardAgent[]): Promise<void>;
  /** Those of these instances that have a row. */
  read(cluster: number, instances: readonly string[]): Promise<(HeardAgent & { silentAfterMs: number })[]>;
  /**
   * Takes at most `limit` agents whose silence is due, and postpones them until `againAtMs`: two callers never get the same.
   * `listeningMs` is how long the caller has been listening; an agent with a longer permitted silence is not due.
   */
  takeSilent(query: { nowMs: number; listeningMs: number; againAtMs: number; limit: number }): Promise<SilentAgent[]>;
  /** Postpones agents whose silence was reported. One that has reported since is unchanged. */
  putOff(items: readonly SilentAgent[], untilMs: number): Promise<void>;
  delete(cluster: number, instances: readonly string[]): Promise<void>;
  /**
   * Records that this replica has just written its reports, and how long it has been listening without a gap. Deletes rows of
   * replicas that ended long ago. Uses the database's time, because replicas and Temporal workers have different clocks.
   */
  noteReplica(replica: string, listeningMs: number): Promise<void>;
  /** Ages are by the database's clock. */
  replicas(): Promise<ReplicaRow[]>;
  /** For a replica that shuts down: it receives no more reports. */
  removeReplica(replica: string): Promise<void>;
}
