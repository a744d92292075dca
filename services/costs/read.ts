// The costs of a workspace in groups: the ledger of its instances, including ended clusters.
import { dollarsOf } from '../../domain/cost/interval.ts';
import { createSummary, type CostLine } from '../../domain/cost/summary.ts';
import type { Costs, CostsQuery } from '../../schema/costs.ts';
import { isHidden } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { timeOf } from '../list-query.ts';
import { time } from '../to-wire.ts';

const defaultDays = 30;

/** Other users' private clusters and jobs count without their tags. @throws RopewalkError VALIDATION naming `since`. */
export async function readCosts({ deps, actor }: Context, { by, since, user }: CostsQuery): Promise<Costs> {
  requireScope(actor, 'read');
  const nowMs = deps.now();
  const sinceMs = timeOf(since, 'since', nowMs) ?? nowMs - defaultDays * 86_400_000;
  const summary = createSummary(by, { sinceMs, nowMs });
  const priceSources = new Set<string>();
  const query = { workspace: actor.workspace, sinceMs, ...(user === undefined ? {} : { user }) };
  await deps.store.costs.read(query, (entries) => {
    for (const entry of entries) {
      summary.add(isHidden(actor, entry) ? { ...entry, tags: {} } : entry);
      priceSources.add(entry.source);
    }
  });
  return {
    by,
    since: time(sinceMs),
    until: time(nowMs),
    items: summary.lines().map((line) => ({ key: line.key, name: line.name, ...amountsOf(line) })),
    total: amountsOf(summary.total()),
    priceSources: [...priceSources].toSorted(),
  };
}

const amountsOf = ({ micros, instanceSeconds, instances, microsPerHour }: CostLine) => ({
  dollars: dollarsOf(micros),
  instanceHours: Math.round((instanceSeconds / 3_600) * 1_000) / 1_000,
  instances,
  dollarsPerHour: dollarsOf(microsPerHour),
});
