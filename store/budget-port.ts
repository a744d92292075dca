// The part of the store's port that is budgets: what an admin has set, what was counted last, and which clusters were notified.
import type { CountedBudget } from '../domain/budget/admit.ts';
import type { Budget } from '../domain/budget/budget.ts';
import type { OpenCluster, Standing } from '../domain/budget/standing.ts';
import type { By } from '../domain/people/state.ts';
import type { Answer } from './answer.ts';

/** An open cluster with the reason for which its launches are held, as it was last signalled. */
export interface HeldCluster extends OpenCluster {
  held: string | null;
  createdAtMs: number;
}

export interface BudgetStore {
  /** By name. */
  list(workspace: string): Promise<CountedBudget[]>;
  /** Workspaces that have a budget, or clusters whose launches are held. */
  workspaces(): Promise<string[]>;
  /** Makes or changes it; admin. What was counted is forgotten: it is counted anew at once. */
  put(workspace: string, item: { budget: Budget; by: By }, nowMs: number): Promise<Answer<Budget>>;
  /** Admin. */
  remove(workspace: string, item: { name: string; by: By }, nowMs: number): Promise<Answer<Budget>>;
  /**
   * Writes what was counted, unless another replica has counted later. A new level becomes an event and a notification of
   * the workspace, once, whichever replica counts it.
   */
  counted(workspace: string, standings: ReadonlyMap<string, Standing>, nowMs: number): Promise<void>;
  /** Clusters that have not ended, with those of jobs. */
  openClusters(workspace: string): Promise<HeldCluster[]>;
  setHeld(number: number, held: string | null): Promise<void>;
}
