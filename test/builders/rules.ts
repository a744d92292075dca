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

type WorkspaceAdmit = typeof import('../../domain/workspace/admit.ts');
type WorkspaceCreate = typeof import('../../domain/workspace/create.ts');
type WorkspaceHolders = typeof import('../../domain/workspace/holders.ts');
type WorkspaceTokens = typeof import('../../domain/workspace/tokens.ts');
type WorkspaceShares = typeof import('../../domain/workspace/shares.ts');
type WorkspaceUsers = typeof import('../../domain/workspace/users.ts');
export type WorkspaceRules = WorkspaceAdmit &
  WorkspaceCreate &
  WorkspaceHolders &
  WorkspaceTokens &
  WorkspaceShares &
  WorkspaceUsers;

type WorkspaceReconcile = typeof import('../../domain/workspace/reconcile.ts');
export type LookRules = WorkspaceCreate & WorkspaceHolders & WorkspaceReconcile;

export type HealRules = typeof import('../../domain/heal/decide.ts');

export type PlanRules = typeof import('../../domain/offers/plan.ts');

export type DeploymentRules = typeof import('../../domain/deployment/rules.ts');

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

export async function loadWorkspaceRules(domain: string): Promise<WorkspaceRules> {
  return {
    ...(await load<WorkspaceAdmit>(domain, 'workspace/admit.ts')),
    ...(await load<WorkspaceCreate>(domain, 'workspace/create.ts')),
    ...(await load<WorkspaceHolders>(domain, 'workspace/holders.ts')),
    ...(await load<WorkspaceTokens>(domain, 'workspace/tokens.ts')),
    ...(await load<WorkspaceShares>(domain, 'workspace/shares.ts')),
    ...(await load<WorkspaceUsers>(domain, 'workspace/users.ts')),
  };
}

export async function loadLookRules(domain: string): Promise<LookRules> {
  return {
    ...(await load<WorkspaceCreate>(domain, 'workspace/create.ts')),
    ...(await load<WorkspaceHolders>(domain, 'workspace/holders.ts')),
    ...(await load<WorkspaceReconcile>(domain, 'workspace/reconcile.ts')),
  };
}

export async function loadDeploymentRules(domain: string): Promise<DeploymentRules> {
  return load<DeploymentRules>(domain, 'deployment/rules.ts');
}

export async function loadHealRules(domain: string): Promise<HealRules> {
  return load<HealRules>(domain, 'heal/decide.ts');
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
