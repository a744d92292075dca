// The store's port for the cost ledger. Cluster workflows write it with their views (`clusters.project` and `end`).
import type { CostInterval } from '../domain/cost/interval.ts';
import type { CostEntry } from '../domain/cost/summary.ts';

export interface CostQuery {
  workspace: string;
  /** Entries of instances that existed at this time or later. */
  sinceMs: number;
  user?: string;
}

/** With the privacy of its cluster. */
export interface OwnedCostEntry extends CostEntry {
  privateToCreator: boolean;
  admissionId: string;
}

export interface CostStore {
  /** Calls `take` for each page: a long ledger is never completely in memory. */
  read(query: CostQuery, take: (entries: OwnedCostEntry[]) => void): Promise<void>;
  /** All entries of these clusters (a job has the number of its cluster), by number. */
  ofClusters(numbers: readonly number[]): Promise<Map<number, CostInterval[]>>;
}
