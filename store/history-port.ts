// The part of the store's port that is the history of clusters. Their workflows write it with their views (`clusters.project` and `end`).
import type { Moment } from '../domain/cluster/history.ts';

export interface HistoryStore {
  /** Hands over the changes up to that time, in their order: a long history is never in memory at once. */
  read(query: { cluster: number; untilMs: number }, take: (moment: Moment) => void): Promise<void>;
}
