// A link to a cluster's dashboard, for users who may read the cluster, or only for its creator when it is private.
import { dashboardOrigin } from '../../domain/cluster/dask/dashboard-url.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { DashboardLink } from '../../schema/clusters.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';

export async function linkDashboard({ deps, actor }: Context, { number }: { number: number }): Promise<DashboardLink> {
  requireScope(actor, 'read');
  const { workspace, user, tokenId } = actor;
  const { view, record } = await deps.views.cluster(workspace, number);
  if (view.job !== null) throw conflict(`Cluster ${number} runs a batch job: it has no Dask dashboard.`);
  if (view.endedAtMs !== null) throw conflict(`Cluster ${number} has ended, and its dashboard with it.`);
  if (view.dask === null) throw notYet(number);
  requireCreator(actor, 'Cluster', record, 'may see its dashboard');
  if (deps.dashboardUrl === null) throw dashboardsOff;
  const { token, expiresAtMs } = await deps.tokens.mintDashboard({ workspace, cluster: number, user, tokenId });
  const url = new URL(`/clusters/${number}/dashboard/`, dashboardOrigin(deps.dashboardUrl, number));
  url.searchParams.set('link', token);
  return { url: url.href, expiresAt: new Date(expiresAtMs).toISOString() };
}

export const dashboardsOff = new RopewalkError({
  code: 'CONFLICT',
  message: 'This deployment shows no dashboards: its operator has set no ROPEWALK_DASHBOARD_PORT.',
  hint: 'docs/dashboard.md says what to set.',
});

const conflict = (message: string) => new RopewalkError({ code: 'CONFLICT', message });

const notYet = (number: number) =>
  new RopewalkError(
    { code: 'NOT_YET', message: `Cluster ${number} is just being started.`, hint: 'Try again in a second.' },
    { retryAfterMs: 1_000 },
  );
