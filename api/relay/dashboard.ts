// GET /clusters/{n}/dashboard/*: who asks, for what, and then Dask's own answer, streamed. Nothing of it is kept, and
// nothing of the asker but a few harmless headers reaches Dask.
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';

import { daskHost, ownSecurity, requestHeaders, responseHeaders } from './headers.ts';
import type { Hub } from './hub.ts';
import {
  awayPage,
  fullPage,
  methodPage,
  missingPage,
  sendPage,
  sendWelcome,
  signInPage,
  silentPage,
  staleLinkPage,
  workerPage,
} from './pages.ts';
import { dashboardRoot, isShown, type DashboardPath } from './paths.ts';
import type { Sessions } from './session.ts';

export interface DashboardDeps {
  hub: Hub;
  sessions: Sessions;
  /** Of a cluster's dashboard in browsers. */
  originOf: (cluster: number) => string;
  /** Dask computes a page before it begins to answer. */
  answerWithinMs: number;
}

/** Never rejects for what the other side does; what was already answered is cut off instead. */
export async function serveDashboard(
  deps: DashboardDeps,
  path: DashboardPath,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { cluster, rest, query } = path;
  if (request.method !== 'GET' && request.method !== 'HEAD') return sendPage(response, methodPage);
  if (request.headers['service-worker'] !== undefined) return sendPage(response, workerPage);
  const link = rest === '/' ? new URLSearchParams(query).get('link') : null;
  if (link !== null) {
    const cookie = await deps.sessions.exchange(link, cluster);
    return cookie === null ? sendPage(response, staleLinkPage(cluster)) : sendWelcome(response, cluster, cookie);
  }
  if ((await deps.sessions.read(request, cluster)) === null) return sendPage(response, signInPage(cluster));
  if (rest === '' || rest === '/') return redirect(response, `${dashboardRoot(cluster)}status`);
  if (!isShown(rest, 'page')) return sendPage(response, missingPage(cluster));
  // Who left while the session was looked up has closed already: no event would follow.
  if (response.destroyed) return;
  const stream = deps.hub.open(cluster);
  if (stream === 'away') return sendPage(response, awayPage(cluster));
  if (stream === 'full') return sendPage(response, fullPage(cluster));

  const upstream = httpRequest({
    method: request.method,
    path: `${rest}${query}`,
    headers: requestHeaders(request.headers),
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
    else sendPage(response, silentPage(cluster));
  });
  upstream.on('response', (answer) => {
    clearTimeout(timer);
    // A throw in here would come out in the agent's connection, which carries the pages of all users, and end this process.
    try {
      if (response.destroyed) answer.destroy();
      else passOn(deps, path, answer, response);
    } catch {
      // People's own programs may answer in Dask's place, and with anything.
      answer.destroy();
      if (response.headersSent) response.destroy();
      else sendPage(response, silentPage(cluster));
    }
  });
  upstream.end();
}

function passOn(
  deps: DashboardDeps,
  { cluster, rest }: DashboardPath,
  answer: IncomingMessage,
  response: ServerResponse,
) {
  const { statusCode: status = 0 } = answer;
  // Less is no answer, and a proxy on the way might take what follows a 101 for anything.
  if (status < 200 || status > 599) throw new Error(`${status} is no status of an answer`);
  const headers = responseHeaders(answer.headers, `${deps.originOf(cluster)}${dashboardRoot(cluster)}`);
  if (answer.headers.location !== undefined) {
    const location = locationFor(cluster, rest, answer.headers.location);
    if (location === null) {
      answer.destroy();
      return sendPage(response, silentPage(cluster));
    }
    headers['location'] = location;
  }
  response.writeHead(status, headers);
  // A reader that goes away or a source that breaks off ends the other.
  pipeline(answer, response, () => undefined);
}

/** Dask knows nothing of where it is shown. Null for a place that is not Dask's: it may not send people elsewhere. */
function locationFor(cluster: number, rest: string, location: string): string | null {
  const base = `http://${daskHost}`;
  const target = URL.parse(location, `${base}${rest}`);
  if (target === null || target.origin !== base) return null;
  return `${dashboardRoot(cluster)}${target.pathname.slice(1)}${target.search}`;
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { ...ownSecurity, location, 'content-length': 0 });
  response.end();
}
