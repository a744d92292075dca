// What a new cluster or job would do to its budgets, for its plan and for the warnings of its creation.
import { forecast, runLimitMicros } from '../../domain/budget/admit.ts';
import { microsOf } from '../../domain/cost/interval.ts';
import type { Context } from '../context.ts';
import type { ResolvedMachines } from '../machines.ts';
import { rolesOf } from '../plan-roles.ts';

export interface Spending {
  machines: ResolvedMachines;
  /** The most that it may have. */
  instances: number;
  maxCostMicros?: number | undefined;
  /** How long it may run; null means no limit. */
  maxMs: number | null;
}

export interface Forecast {
  /** At most, of all its instances; 0 where they cost nothing, and where their price is unknown. */
  microsPerHour: number;
  /** Its own limit, or the least of those budgets that stop each run; null means no limit. */
  maxCostMicros: number | null;
  warnings: string[];
}

export async function forecastOf(
  { deps, actor }: Context,
  { machines, instances, maxCostMicros, maxMs }: Spending,
): Promise<Forecast> {
  const { head, workers } = rolesOf(machines, instances);
  const microsPerHour = microsOf((head.pricePerHour.max ?? 0) + (workers.pricePerHour.max ?? 0));
  const budgets = await deps.store.budgets.list(actor.workspace);
  const ofRun = runLimitMicros(budgets, actor.user);
  const limits = [maxCostMicros, ofRun].filter((each) => each !== undefined && each !== null);
  const launching = { user: actor.user, microsPerHour, maxCostMicros: maxCostMicros ?? null, maxMs };
  return {
    microsPerHour,
    maxCostMicros: limits.length === 0 ? null : Math.min(...limits),
    warnings: forecast(budgets, launching, deps.now()),
  };
}
