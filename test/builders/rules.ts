// The rule modules that each simulation runs against, as the type of one value.

type JobCreate = typeof import('../../domain/job/create.ts');
type JobEvents = typeof import('../../domain/job/events.ts');
type JobExchange = typeof import('../../domain/job/exchange.ts');
type JobView = typeof import('../../domain/job/summary.ts');
type JobShrink = typeof import('../../domain/job/shrink.ts');
export type JobRules = JobShrink & JobCreate & JobEvents & JobExchange & JobView;

type ClusterApply = typeof import('../../domain/cluster/apply.ts');
type ClusterInspect = typeof import('../../domain/cluster/instance/inspect.ts');
type ClusterCreate = typeof import('../../domain/cluster/create.ts');
type ClusterPlan = typeof import('../../domain/cluster/plan.ts');
type ClusterRequests = typeof import('../../domain/cluster/requests.ts');
type ClusterView = typeof import('../../domain/cluster/status.ts');
type ClusterRelease = typeof import('../../domain/cluster/slot/release.ts');
export type ClusterRules = ClusterRelease &
  ClusterInspect &
  ClusterApply &
  ClusterCreate &
  ClusterPlan &
  ClusterRequests &
  ClusterView;

type ClusterCapacity = typeof import('../../domain/cluster/capacity/wait.ts');
export type CapacityRules = ClusterRules & ClusterCapacity;

type ClusterDask = typeof import('../../domain/cluster/dask/report.ts');
type ClusterAdaptive = typeof import('../../domain/cluster/dask/adaptive.ts');
type ClusterOrders = typeof import('../../domain/cluster/orders.ts');
export type DaskRules = ClusterRules & ClusterDask & ClusterAdaptive & ClusterOrders;

export type StuckRules = typeof import('../../domain/stuck/decide.ts');

export type PlanRules = typeof import('../../domain/offers/plan.ts');

export type SweepRules = typeof import('../../domain/sweep/decide.ts');
