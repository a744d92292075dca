// The websockets of a dashboard's pages: once Dask has accepted, bytes pass unchanged in both directions. Dask accepts any origin, so the origin is
// checked here: no page of another origin may read a dashboard with the user's cookie.
import { request as httpRequest, STATUS_CODES, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';

import { accessCheckEveryMs } from '../../domain/tokens/limits.ts';
import type { DashboardDeps } from './dashboard.ts';
import { switchHeaders, upgradeHeaders } from './headers.ts';
import {
  awayPage,
  fullPage,
  missingPage,
  noJupyterPage,
  originPage,
  pageHeaders,
  renderPage,
  signInPage,
  silentPage,
  type Page,
} from './pages.ts';
import { isShown, upstreamPath, type DashboardPath } from './paths.ts';

export async function serveWebSocket(
  deps: DashboardDeps & { now: () => number },
  path: DashboardPath,
  request: IncomingMessage,
  socket: Duplex,
): Promise<void> {
  const { cluster, site, rest } = path;
  if (request.headers.origin !== deps.originOf(cluster)) return refuse(socket, originPage);
  const session = await deps.sessions.read(request, path);
  if (session === null) return refuse(socket, signInPage(path, deps.apiUrl));
  if (!isShown(rest, 'websocket', site)) return refuse(socket, missingPage(path));
  const jupyterToken = site === 'jupyter' ? await deps.jupyterToken(session.workspace, cluster) : null;
  if (site === 'jupyter' && jupyterToken === null) return refuse(socket, noJupyterPage(path));
  // If the browser disconnected during the session lookup, no further event would follow.
  if (socket.destroyed) return;
  const stream = deps.hub.open(cluster);
  if (stream === 'away') return refuse(socket, awayPage(path));
  if (stream === 'full') return refuse(socket, fullPage(path));

  const upstream = httpRequest({
    path: upstreamPath(path),
    headers: upgradeHeaders(request.headers, jupyterToken),
    createConnection: () => stream,
  });
  const fail = (): void => {
    stream.destroy();
    refuse(socket, silentPage(path));
  };
  const timer = setTimeout(fail, deps.answerWithinMs);
  // The websocket ends with its session.
  const sessionEnd = setTimeout(() => socket.destroy(), session.expiresAtMs - deps.now());
  const access = setInterval(() => {
    void deps.sessions.isGood(session).then((good) => (good ? undefined : socket.destroy()));
  }, accessCheckEveryMs);
  socket.on('close', () => {
    clearTimeout(timer);
    clearTimeout(sessionEnd);
    clearInterval(access);
    stream.destroy();
  });
  upstream.on('error', fail);
  upstream.on('response', fail);
  upstream.on('upgrade', (answer, peer, first) => {
    clearTimeout(timer);
    if (socket.destroyed) return void peer.destroy();
    socket.write(headOf(101, switchHeaders(answer.headers)));
    if (first.length > 0) socket.write(first);
    peer.on('close', () => socket.destroy());
    peer.pipe(socket).pipe(peer);
  });
  upstream.end();
}

/** Answers an upgrade with a page. */
export function refuse(socket: Duplex, page: Page): void {
  if (socket.destroyed || socket.writableEnded) return;
  const body = renderPage(page);
  const headers = { ...pageHeaders(page), connection: 'close', 'content-length': Buffer.byteLength(body) };
  socket.end(`${headOf(page.status, headers)}${body}`, () => socket.destroy());
}

/** Values come from a parsed head, so they contain no line breaks. */
function headOf(status: number, headers: OutgoingHttpHeaders): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', ''].join('\r\n');
}
