// The part of the port (store.ts) that keeps when agents were last heard.
import type { ReplicaRow } from '../domain/liveness/replicas.ts';

/** An agent that the API has heard. */
export interface HeardAgent {
  cluster: number;
  instance: string;
  heardAtMs: number;
  /** Since when it was heard without a gap. */
  sinceMs: number;
  /** The silence after which it is suspected; null when the caller does not know: then the row's stays. */
  silentAfterMs: number | null;
}

export interface SilentAgent {
  cluster: number;
  instance: string;
  heardAtMs: number;
}

export interface LivenessStore {
  /** Writes these in one transaction. An older time than the row has changes nothing. */
  note(items: readonly HeardAgent[]): Promise<void>;
  /** Those of these instances that have a row. */
  read(cluster: number, instances: readonly string[]): Promise<(HeardAgent & { silentAfterMs: number })[]>;
  /**
   * Takes agents whose silence is due, at most `limit`, and puts them off until `againAtMs`: two callers never get the same.
   * `listeningMs`: how long the caller has been listening; an agent whose silence may be longer than that is not due.
   */
  takeSilent(query: { nowMs: number; listeningMs: number; againAtMs: number; limit: number }): Promise<SilentAgent[]>;
  /** Their silence has been reported: it is not due again before this time. One that was heard since is left as it is. */
  putOff(items: readonly SilentAgent[], untilMs: number): Promise<void>;
  delete(cluster: number, instances: readonly string[]): Promise<void>;
  /**
   * Writes that this replica has now written what it heard, and for how long it has been listening without a gap. Rows of replicas
   * that ended long before are deleted. The time is the database's: replicas and Temporal workers have clocks of their own.
   */
  noteReplica(replica: string, listeningMs: number): Promise<void>;
  /** With ages by the database's clock. */
  replicas(): Promise<ReplicaRow[]>;
  /** A replica that ends in order hears no agent any more. */
  removeReplica(replica: string): Promise<void>;
}
