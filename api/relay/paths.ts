// The paths of dashboards and Jupyter servers, and which of them are relayed. All other paths are not found: Dask also serves an interface to its
// scheduler and other ports of its machine, and none of them is relayed.
import type { ClusterSite } from '../../platform/tokens.ts';
import { jupyterRoot } from '../../schema/relay.ts';

export interface DashboardPath {
  cluster: number;
  site: ClusterSite;
  /** The rest from the slash on, as Dask uses it, e.g. `/status/ws`; empty when the slash is missing. */
  rest: string;
  query: string;
}

/** Null for any other path. */
export function parseDashboardPath(url: string): DashboardPath | null {
  const [, number, site, rest = '', query = ''] =
    /^\/clusters\/([1-9]\d{0,11})\/(dashboard|jupyter)(\/[^?#]*)?(\?[^#]*)?$/.exec(url) ?? [];
  if (number === undefined) return null;
  return { cluster: Number(number), site: site === 'jupyter' ? 'jupyter' : 'dashboard', rest, query };
}

export const dashboardRoot = (cluster: number): string => `/clusters/${cluster}/dashboard/`;

export const rootOf = ({ cluster, site }: Pick<DashboardPath, 'cluster' | 'site'>): string =>
  site === 'jupyter' ? jupyterRoot(cluster) : dashboardRoot(cluster);

/** The first page of a visit. */
export const startOf = (at: Pick<DashboardPath, 'cluster' | 'site'>): string =>
  `${rootOf(at)}${at.site === 'jupyter' ? 'lab' : 'status'}`;

/** The path at the process on the instance: Jupyter writes its own root into its pages, Dask's pages link relatively. */
export const upstreamPath = ({ cluster, site, rest, query }: DashboardPath): string =>
  `${site === 'jupyter' ? jupyterRoot(cluster).slice(0, -1) : ''}${rest}${query}`;

/** Pages that draw through their own websocket. */
const livePages = new Set([
  ...['status', 'workers', 'tasks', 'system', 'profile', 'profile-server', 'graph', 'groups', 'shuffle', 'stealing'],
  ...['exceptions', 'events', 'counters', 'hardware', 'gpu'],
]);
const isLivePage = (name: string): boolean =>
  livePages.has(name) || /^individual-[a-z-]+$/.test(name) || /^(gpu|rmm)-(memory|utilization)$/.test(name);

const singleFiles = new Set(['health', 'sitemap.json', 'individual-plots.json']);
const folders = new Set(['info', 'static', 'statics']);

/** All paths below Jupyter's root are relayed, because a user who may open it may run any code in it. */
export function isShown(rest: string, how: 'page' | 'websocket', site: ClusterSite = 'dashboard'): boolean {
  const [empty, first = '', ...more] = rest.split('/');
  if (empty !== '' || ![first, ...more].every(isPlain)) return false;
  if (site === 'jupyter') return true;
  if (how === 'websocket') return isLivePage(first) && more.length === 1 && more[0] === 'ws';
  if (folders.has(first)) return !more.includes('');
  return more.length === 0 && (singleFiles.has(first) || isLivePage(first));
}

/** One segment that no server can interpret as a parent directory; keys and addresses are percent-encoded. */
function isPlain(segment: string): boolean {
  if (!/^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*$/.test(segment)) return false;
  try {
    return !decodeURIComponent(segment)
      .split(/[/\\]/)
      .some((part) => part === '.' || part === '..');
  } catch {
    return false;
  }
}
