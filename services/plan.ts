// Plans the machines and hourly cost of a cluster or job. Nothing is written, admitted or launched.
import { whyApproval } from '../domain/admission/approval.ts';
import { portsOf, type IngressRules } from '../domain/cluster/capacity/ingress-rules.ts';
import { microsOf } from '../domain/cost/interval.ts';
import { totalPrice } from '../domain/offers/plan.ts';
import type { CreateClusterParsed } from '../schema/clusters.ts';
import type { CreateJobParsed } from '../schema/jobs.ts';
import type { Plan } from '../schema/plans.ts';
import { requireScope } from './auth/scopes.ts';
import { approvalWarning } from './admission/admit.ts';
import { forecastOf, type Forecast } from './budgets/forecast.ts';
import { readClusterRequest } from './clusters/request.ts';
import type { Context, Deps } from './context.ts';
import { readJobRequest } from './jobs/request.ts';
import { readDefaults } from './people/defaults.ts';
import type { ResolvedMachines } from './machines.ts';
import { rolesOf } from './plan-roles.ts';

/** @throws RopewalkError VALIDATION as `createCluster` would. */
export async function planCluster(context: Context, body: CreateClusterParsed): Promise<Plan> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const { machines, instances, maxInstances, times, warnings } = await readClusterRequest(
    deps,
    body,
    await readDefaults(context),
  );
  const spending = await forecastOf(context, {
    ...{ machines, instances: maxInstances, maxMs: times.maxLifetimeMs },
    maxCostMicros: body.maxCost === undefined ? undefined : microsOf(body.maxCost),
  });
  return planOf(deps, {
    machines,
    instances,
    warnings: [...warnings, ...spending.warnings, ...approvalWarnings(spending)],
  });
}

/** @throws RopewalkError VALIDATION as `createJob` would. */
export async function planJob(context: Context, body: CreateJobParsed): Promise<Plan> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const { machines, resolved, warnings } = await readJobRequest(deps, body, await readDefaults(context));
  const { instances, jobTimeoutMs: maxMs, maxCostMicros } = resolved;
  const spending = await forecastOf(context, { machines, instances, maxMs, maxCostMicros });
  return planOf(deps, {
    machines,
    instances,
    warnings: [...warnings, ...spending.warnings, ...approvalWarnings(spending)],
  });
}

const approvalWarnings = ({ rule, estimate }: Forecast): string[] => {
  const why = whyApproval(rule, estimate);
  return why === null ? [] : [approvalWarning(why)];
};

function planOf(
  { now }: Pick<Deps, 'now'>,
  { machines, instances, warnings }: { machines: ResolvedMachines; instances: number; warnings: string[] },
): Plan {
  const { provider, machines: settings } = machines;
  const { head, workers, zones } = rolesOf(machines, instances);
  return {
    provider,
    region: settings?.region ?? null,
    zones,
    allowCrossZone: settings?.allowCrossZone ?? false,
    diskGib: settings?.diskGib ?? null,
    head,
    workers,
    pricePerHour: totalPrice([head.pricePerHour, workers.pricePerHour]),
    prices: pricesOf(machines.onDemandPrices, workers.markets, now()),
    warnings: [...warnings, ...(settings?.ingress === undefined ? [] : [openedBy(settings.ingress)])],
  };
}

const openedBy = (ingress: IngressRules): string =>
  `The head instance opens ${portsOf(ingress)
    .map(({ port, source }) => `port ${port} to ${source}`)
    .join(', ')}.`;

function pricesOf(
  dated: ResolvedMachines['onDemandPrices'],
  markets: Plan['workers']['markets'],
  nowMs: number,
): Plan['prices'] {
  if (dated === null) return [];
  const spot = {
    market: 'spot' as const,
    source: 'the provider, at most five minutes old',
    asOf: new Date(nowMs).toISOString(),
  };
  return [{ market: 'on-demand', ...dated }, ...(markets.includes('spot') ? [spot] : [])];
}
