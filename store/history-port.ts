// The store's port for the history of clusters. Their workflows write it with their views (`clusters.project` and `end`).
import type { Moment } from '../domain/cluster/history.ts';

export interface HistoryStore {
  /** The next changes, at most some thousands, with greater numbers than `after`, up to that time, in order; empty at the end. */
  page(query: { cluster: number; untilMs: number; after: number }): Promise<Moment[]>;
}
