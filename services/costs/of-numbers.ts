// Adds the cost so far to each job or cluster of a response.
import { microsPerHour, totalCost } from '../../domain/cost/amount.ts';
import { dollarsOf } from '../../domain/cost/interval.ts';
import type { OwnCost } from '../../schema/costs.ts';
import type { Context } from '../context.ts';

/** A job and the cluster of its instances share one number. */
export async function withCosts<T extends { number: number }>(
  { deps }: Context,
  items: readonly T[],
): Promise<(T & { cost: OwnCost })[]> {
  if (items.length === 0) return [];
  const known = await deps.store.costs.ofClusters(items.map(({ number }) => number));
  const nowMs = deps.now();
  return items.map((item) => {
    const intervals = known.get(item.number);
    if (intervals === undefined) return { ...item, cost: null };
    const cost = {
      dollars: dollarsOf(totalCost(intervals, nowMs)),
      dollarsPerHour: dollarsOf(microsPerHour(intervals, nowMs)),
    };
    return { ...item, cost };
  });
}

export async function withCost<T extends { number: number }>(
  context: Context,
  item: T,
): Promise<T & { cost: OwnCost }> {
  const [found] = await withCosts(context, [item]);
  return found ?? { ...item, cost: null };
}
