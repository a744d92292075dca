// The store's port for budgets: an admin's settings, the last count, and the notified clusters.
import type { CountedBudget } from '../domain/budget/admit.ts';
import type { Budget } from '../domain/budget/budget.ts';
import type { OpenCluster, Standing } from '../domain/budget/standing.ts';
import type { By } from '../domain/people/state.ts';
import type { Answer } from './answer.ts';

/** An open cluster with the last signalled reason for holding its launches. */
export interface HeldCluster extends OpenCluster {
  held: string | null;
  createdAtMs: number;
}

export interface BudgetStore {
  /** By name. */
  list(workspace: string): Promise<CountedBudget[]>;
  /** Workspaces that have a budget, or clusters whose launches are held. */
  workspaces(): Promise<string[]>;
  /** Creates or changes a budget; admin. Discards its count, which is then counted again at once. */
  put(workspace: string, item: { budget: Budget; by: By }, nowMs: number): Promise<Answer<Budget>>;
  /** Admin. */
  remove(workspace: string, item: { name: string; by: By }, nowMs: number): Promise<Answer<Budget>>;
  /**
   * Writes the count, unless another replica has counted later. A new level becomes an event and a notification of the
   * workspace, once, whichever replica counts it.
   */
  counted(workspace: string, standings: ReadonlyMap<string, Standing>, nowMs: number): Promise<void>;
  /** Clusters that have not ended, including those of jobs. */
  openClusters(workspace: string): Promise<HeldCluster[]>;
  setHeld(number: number, held: string | null): Promise<void>;
}
