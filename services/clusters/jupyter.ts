// A cluster's Jupyter server runs code on it, so a link requires the same rights as credentials.
import { dashboardOrigin } from '../../domain/cluster/dask/dashboard-url.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { daskBundle } from '../../schema/agent.ts';
import type { DashboardLink } from '../../schema/clusters.ts';
import { jupyterRoot } from '../../schema/relay.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import { dashboardsOff } from './dashboard-link.ts';
import { findOpenDask } from './open-dask.ts';

/** Throws CONFLICT for a cluster without Jupyter, and NOT_YET before its scheduler has started. */
export async function linkJupyter(context: Context, { number }: { number: number }): Promise<DashboardLink> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const { dask, record } = await findOpenDask(context, number);
  requireCreator(actor, 'Cluster', record, 'may open its Jupyter server');
  if (deps.dashboardUrl === null) throw dashboardsOff;
  const { workspace, user, tokenId } = actor;
  if ((await readJupyterToken(deps, workspace, number)) === null) throw withoutJupyter(number);
  if (dask.orders.schedulerAddress === null) throw notYet(number);
  const { token, expiresAtMs } = await deps.tokens.mintDashboard(
    { workspace, cluster: number, user, tokenId },
    'jupyter',
  );
  const url = new URL(jupyterRoot(number), dashboardOrigin(deps.dashboardUrl, number));
  url.searchParams.set('link', token);
  return { url: url.href, expiresAt: new Date(expiresAtMs).toISOString() };
}

/** Null when the cluster was started without Jupyter, or has ended. */
export async function readJupyterToken(
  { views, vault }: Pick<Deps, 'views' | 'vault'>,
  workspace: string,
  number: number,
): Promise<string | null> {
  const spec = await views.clusterSpec(workspace, number);
  const bytes = spec === null ? null : await vault.open(spec.bundleRef);
  return bytes === null ? null : daskBundle.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))).jupyterToken;
}

/** A Jupyter page makes a hundred requests, so the newest tokens are cached, as briefly as a cluster's end may go unnoticed. */
export function rememberJupyterTokens(
  read: (workspace: string, cluster: number) => Promise<string | null>,
  now: () => number,
): (workspace: string, cluster: number) => Promise<string | null> {
  const known = new Map<number, { workspace: string; token: Promise<string | null>; untilMs: number }>();
  return (workspace, cluster) => {
    const found = known.get(cluster);
    if (found !== undefined && found.workspace === workspace && now() < found.untilMs) return found.token;
    const token = read(workspace, cluster);
    known.delete(cluster);
    known.set(cluster, { workspace, token, untilMs: now() + rememberMs });
    token.catch(() => known.delete(cluster));
    const [oldest] = known.keys();
    if (known.size > maxRemembered && oldest !== undefined) known.delete(oldest);
    return token;
  };
}

const rememberMs = 60_000;
const maxRemembered = 1_000;

const withoutJupyter = (number: number) =>
  new RopewalkError({
    code: 'CONFLICT',
    message: `Cluster ${number} has no Jupyter server: it was started without.`,
    hint: 'Start a cluster with jupyter=True, or `ropewalk cluster create --jupyter`; its environment must have jupyterlab.',
  });

const notYet = (number: number) =>
  new RopewalkError(
    {
      code: 'NOT_YET',
      message: `The scheduler of cluster ${number} has not started yet, and its Jupyter server with it.`,
      hint: 'Try again in a second.',
    },
    { retryAfterMs: 1_000 },
  );
