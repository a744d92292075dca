// /clusters/{n}/dashboard/* and /clusters/{n}/jupyter/*: checks the request, and streams the response of Dask or Jupyter. Nothing of it is stored,
// and only a few harmless headers of the browser reach the cluster.
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';

import { daskHost, ownSecurity, requestHeaders, responseHeaders } from './headers.ts';
import type { Hub } from './hub.ts';
import {
  awayPage,
  fullPage,
  methodPage,
  missingPage,
  noJupyterPage,
  originPage,
  sendPage,
  sendWelcome,
  signInPage,
  silentPage,
  staleLinkPage,
  workerPage,
} from './pages.ts';
import { isShown, rootOf, startOf, upstreamPath, type DashboardPath } from './paths.ts';
import type { Sessions } from './session.ts';

export interface DashboardDeps {
  hub: Hub;
  sessions: Sessions;
  /** The origin of a cluster's dashboard in browsers. */
  originOf: (cluster: number) => string;
  /** Token of the cluster's Jupyter server; null when it has none, or has ended. */
  jupyterToken: (workspace: string, cluster: number) => Promise<string | null>;
  /** URL of the API in browsers. */
  apiUrl: string;
  /** Dask computes a page before it begins to respond. */
  answerWithinMs: number;
}

/** Never rejects because of the other side; an already started response is cut off instead. */
export async function serveDashboard(
  deps: DashboardDeps,
  path: DashboardPath,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { cluster, site, rest, query } = path;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    if (site !== 'jupyter' || !jupyterMethods.has(request.method ?? '')) return sendPage(response, methodPage);
    // Browsers send the origin of every page that makes a change.
    if (request.headers.origin !== deps.originOf(cluster)) return sendPage(response, originPage);
  }
  if (request.headers['service-worker'] !== undefined) return sendPage(response, workerPage);
  const link = rest === '/' ? new URLSearchParams(query).get('link') : null;
  if (link !== null) {
    const cookie = await deps.sessions.exchange(link, path);
    return cookie === null ? sendPage(response, staleLinkPage(path, deps.apiUrl)) : sendWelcome(response, path, cookie);
  }
  const session = await deps.sessions.read(request, path);
  if (session === null) return sendPage(response, signInPage(path, deps.apiUrl));
  if (rest === '' || rest === '/') return redirect(response, startOf(path));
  if (!isShown(rest, 'page', site)) return sendPage(response, missingPage(path));
  const jupyterToken = site === 'jupyter' ? await deps.jupyterToken(session.workspace, cluster) : null;
  if (site === 'jupyter' && jupyterToken === null) return sendPage(response, noJupyterPage(path));
  // If the browser disconnected during the session lookup, no further event would follow.
  if (response.destroyed) return;
  const stream = deps.hub.open(cluster);
  if (stream === 'away') return sendPage(response, awayPage(path));
  if (stream === 'full') return sendPage(response, fullPage(path));

  const upstream = httpRequest({
    method: request.method,
    path: upstreamPath(path),
    headers: requestHeaders(request.headers, jupyterToken),
    createConnection: () => stream,
  });
  const timer = setTimeout(() => upstream.destroy(new Error('no answer in time')), deps.answerWithinMs);
  response.on('close', () => {
    clearTimeout(timer);
    upstream.destroy();
    stream.destroy();
  });
  upstream.on('error', () => {
    clearTimeout(timer);
    if (response.headersSent) response.destroy();
    else sendPage(response, silentPage(path));
  });
  upstream.on('response', (answer) => {
    clearTimeout(timer);
    // An error thrown here would reach the agent's connection, which carries the pages of all users, and end this process.
    try {
      if (response.destroyed) answer.destroy();
      else passOn(deps, path, answer, response);
    } catch {
      // Users' own programs may answer in Dask's place, with any response.
      answer.destroy();
      if (response.headersSent) response.destroy();
      else sendPage(response, silentPage(path));
    }
  });
  // Requests to a dashboard have no body.
  if (site === 'jupyter') request.pipe(upstream);
  else upstream.end();
}

/** Methods of Jupyter's own interface. */
const jupyterMethods = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

function passOn(deps: DashboardDeps, path: DashboardPath, answer: IncomingMessage, response: ServerResponse) {
  const { statusCode: status = 0 } = answer;
  // A lower status is no final response, and a proxy could misinterpret the bytes after a 101.
  if (status < 200 || status > 599) throw new Error(`${status} is no status of an answer`);
  const headers = responseHeaders(answer.headers, `${deps.originOf(path.cluster)}${rootOf(path)}`, path.site);
  if (answer.headers.location !== undefined) {
    const location = locationFor(path, answer.headers.location);
    if (location === null) {
      answer.destroy();
      return sendPage(response, silentPage(path));
    }
    headers['location'] = location;
  }
  response.writeHead(status, headers);
  // When the reader disconnects or the source breaks off, the other side ends too.
  pipeline(answer, response, () => undefined);
}

/** Dask does not know its public location. Null for a location outside this site, because a redirect must not lead users elsewhere. */
function locationFor(path: DashboardPath, location: string): string | null {
  const base = `http://${daskHost}`;
  const target = URL.parse(location, `${base}${upstreamPath(path)}`);
  if (target === null || target.origin !== base) return null;
  const { pathname, search } = target;
  if (path.site === 'dashboard') return `${rootOf(path)}${pathname.slice(1)}${search}`;
  return pathname.startsWith(rootOf(path)) ? `${pathname}${search}` : null;
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { ...ownSecurity, location, 'content-length': 0 });
  response.end();
}
