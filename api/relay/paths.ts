// Which paths are a dashboard's, and which of those Dask is asked for. What is not named here is not there: Dask also
// serves an interface to its scheduler, other ports of its machine and a notebook server, and none of them is relayed.

export interface DashboardPath {
  cluster: number;
  /** From the slash on, as Dask knows it, e.g. `/status/ws`; empty when the slash is missing. */
  rest: string;
  query: string;
}

/** Null for what is no path of a dashboard. */
export function parseDashboardPath(url: string): DashboardPath | null {
  const [, number, rest = '', query = ''] =
    /^\/clusters\/([1-9]\d{0,11})\/dashboard(\/[^?#]*)?(\?[^#]*)?$/.exec(url) ?? [];
  return number === undefined ? null : { cluster: Number(number), rest, query };
}

export const dashboardRoot = (cluster: number): string => `/clusters/${cluster}/dashboard/`;

/** Pages that draw by a websocket of their own. */
const livePages = new Set([
  ...['status', 'workers', 'tasks', 'system', 'profile', 'profile-server', 'graph', 'groups', 'shuffle', 'stealing'],
  ...['exceptions', 'events', 'counters', 'hardware', 'gpu'],
]);
const isLivePage = (name: string): boolean =>
  livePages.has(name) || /^individual-[a-z-]+$/.test(name) || /^(gpu|rmm)-(memory|utilization)$/.test(name);

const singleFiles = new Set(['health', 'sitemap.json', 'individual-plots.json']);
const folders = new Set(['info', 'static', 'statics']);

export function isShown(rest: string, how: 'page' | 'websocket'): boolean {
  const [empty, first = '', ...more] = rest.split('/');
  if (empty !== '' || ![first, ...more].every(isPlain)) return false;
  if (how === 'websocket') return isLivePage(first) && more.length === 1 && more[0] === 'ws';
  if (folders.has(first)) return !more.includes('');
  return more.length === 0 && (singleFiles.has(first) || isLivePage(first));
}

/** One segment, which no server on the way may read as a step up: keys and addresses come percent-encoded. */
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
