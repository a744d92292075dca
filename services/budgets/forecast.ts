// The effect of a new cluster or job on its budgets, for its plan and for the warnings at its creation.
import { estimateOf, type ApprovalRule, type CostEstimate } from '../../domain/admission/approval.ts';
import { forecast, runLimitMicros } from '../../domain/budget/admit.ts';
import { microsOf } from '../../domain/cost/interval.ts';
import type { Context } from '../context.ts';
import type { ResolvedMachines } from '../machines.ts';
import { rolesOf } from '../plan-roles.ts';

export interface Spending {
  machines: ResolvedMachines;
  /** The maximum number of instances. */
  instances: number;
  maxCostMicros?: number | undefined;
  /** The maximum running time; null for no limit. */
  maxMs: number | null;
}

export interface Forecast {
  /** The maximum, for all its instances. */
  estimate: CostEstimate;
  /** Its own limit, or the lowest of the budgets that stop each run; null for no limit. */
  maxCostMicros: number | null;
  warnings: string[];
  rule: ApprovalRule | null;
}

export async function forecastOf(
  { deps, actor }: Context,
  { machines, instances, maxCostMicros, maxMs }: Spending,
): Promise<Forecast> {
  const { head, workers } = rolesOf(machines, instances);
  const microsPerHour = microsOf((head.pricePerHour.max ?? 0) + (workers.pricePerHour.max ?? 0));
  const [budgets, rule] = await Promise.all([
    deps.store.budgets.list(actor.workspace),
    deps.store.approvals.rule(actor.workspace),
  ]);
  const ofRun = runLimitMicros(budgets, actor.user);
  const limits = [maxCostMicros, ofRun].filter((each) => each !== undefined && each !== null);
  const launching = { user: actor.user, microsPerHour, maxCostMicros: maxCostMicros ?? null, maxMs };
  const leastMicros = limits.length === 0 ? null : Math.min(...limits);
  const estimate = estimateOf({ microsPerHour: dearestMicros(machines, instances), maxMs, maxCostMicros: leastMicros });
  return { estimate, rule, maxCostMicros: leastMicros, warnings: forecast(budgets, launching, deps.now()) };
}

/** Maximum hourly price of all instances; 0 where they cost nothing, null where one price is unknown. */
export function dearestMicros(
  machines: Pick<ResolvedMachines, 'machines' | 'offers' | 'addressPrices'>,
  instances: number,
): number | null {
  const { head, workers } = rolesOf(machines, instances);
  const dollars = [head, ...(workers.count > 0 ? [workers] : [])].map(({ pricePerHour }) => pricePerHour.max);
  return dollars.reduce<number | null>((sum, each) => (sum === null || each === null ? null : sum + microsOf(each)), 0);
}
