// The rule modules as values, so that the same property can be run against the real rules and against a mutated copy.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

type JobCreate = typeof import('../../domain/job/create.ts');
type JobEvents = typeof import('../../domain/job/events.ts');
type JobExchange = typeof import('../../domain/job/exchange.ts');
type JobView = typeof import('../../domain/job/view.ts');
type JobShrink = typeof import('../../domain/job/shrink.ts');
export type JobRules = JobShrink & JobCreate & JobEvents & JobExchange & JobView;

type ClusterApply = typeof import('../../domain/cluster/apply.ts');
type ClusterCreate = typeof import('../../domain/cluster/create.ts');
type ClusterPlan = typeof import('../../domain/cluster/plan.ts');
type ClusterRequests = typeof import('../../domain/cluster/requests.ts');
type ClusterView = typeof import('../../domain/cluster/view.ts');
type ClusterGiveBack = typeof import('../../domain/cluster/give-back.ts');
export type ClusterRules = ClusterGiveBack & ClusterApply & ClusterCreate & ClusterPlan & ClusterRequests & ClusterView;

type ClusterCapacity = typeof import('../../domain/cluster/capacity.ts');
export type CapacityRules = ClusterRules & ClusterCapacity;

type ClusterDask = typeof import('../../domain/cluster/dask.ts');
type ClusterOrders = typeof import('../../domain/cluster/orders.ts');
export type DaskRules = ClusterRules & ClusterDask & ClusterOrders;

export type StuckRules = typeof import('../../domain/stuck/decide.ts');

export type PlanRules = typeof import('../../domain/offers/plan.ts');

export type SweepRules = typeof import('../../domain/sweep/decide.ts');

/** `domain` is a copy of the folder domain/. */
export async function loadJobRules(domain: string): Promise<JobRules> {
  return {
    ...(await load<JobCreate>(domain, 'job/create.ts')),
    ...(await load<JobEvents>(domain, 'job/events.ts')),
    ...(await load<JobExchange>(domain, 'job/exchange.ts')),
    ...(await load<JobView>(domain, 'job/view.ts')),
    ...(await load<JobShrink>(domain, 'job/shrink.ts')),
  };
}

export async function loadClusterRules(domain: string): Promise<ClusterRules> {
  return {
    ...(await load<ClusterApply>(domain, 'cluster/apply.ts')),
    ...(await load<ClusterCreate>(domain, 'cluster/create.ts')),
    ...(await load<ClusterPlan>(domain, 'cluster/plan.ts')),
    ...(await load<ClusterRequests>(domain, 'cluster/requests.ts')),
    ...(await load<ClusterView>(domain, 'cluster/view.ts')),
    ...(await load<ClusterGiveBack>(domain, 'cluster/give-back.ts')),
  };
}

export async function loadCapacityRules(domain: string): Promise<CapacityRules> {
  return {
    ...(await loadClusterRules(domain)),
    ...(await load<ClusterCapacity>(domain, 'cluster/capacity.ts')),
  };
}

export async function loadDaskRules(domain: string): Promise<DaskRules> {
  return {
    ...(await loadClusterRules(domain)),
    ...(await load<ClusterDask>(domain, 'cluster/dask.ts')),
    ...(await load<ClusterOrders>(domain, 'cluster/orders.ts')),
  };
}

export async function loadStuckRules(domain: string): Promise<StuckRules> {
  return load<StuckRules>(domain, 'stuck/decide.ts');
}

export async function loadPlanRules(domain: string): Promise<PlanRules> {
  return load<PlanRules>(domain, 'offers/plan.ts');
}

export async function loadSweepRules(domain: string): Promise<SweepRules> {
  return load<SweepRules>(domain, 'sweep/decide.ts');
}

/** The type is that of the file this one was copied from: a mutation changes what a function does, never its shape. */
async function load<T>(domain: string, path: string): Promise<T> {
  const module: T = await import(/* @vite-ignore */ pathToFileURL(join(domain, path)).href);
  return module;
}
