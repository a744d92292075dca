// The store's port for the history of clusters. Their workflows write it with their views (`clusters.project` and `end`).
import type { Moment } from '../domain/cluster/history.ts';

export interface HistoryStore {
  /** Calls `take` for each change up to that time, in order: a long history is never completely in memory. */
  read(query: { cluster: number; untilMs: number }, take: (moment: Moment) => void): Promise<void>;
}
