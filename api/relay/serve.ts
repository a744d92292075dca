// The separate listener of dashboards, and the host names that it accepts.
import { createServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http';

import { dashboardOrigin, hasOriginPerCluster } from '../../domain/cluster/dask/dashboard-url.ts';
import { createHostCheck, type HostCheck } from '../../platform/host-check.ts';
import { parseDashboardPath } from './paths.ts';
import type { Relay } from './relay.ts';

/** Does not listen yet. */
export function createDashboardServer(
  relay: Pick<Relay, 'answer' | 'upgrade'>,
  isKnownHost: HostCheck,
  options: ServerOptions,
): Server {
  const server = createServer({ ...options, ...websocketsOnly }, (request, response) => {
    if (isKnownHost(request)) return relay.answer(request, response);
    response.writeHead(421, { 'content-type': 'text/plain', connection: 'close' });
    response.end('Dashboards do not answer under the name in the Host header: see ROPEWALK_DASHBOARD_URL.\n');
  });
  return server.on('upgrade', (request, socket, head) => {
    if (isKnownHost(request)) relay.upgrade(request, socket, head);
    else socket.destroy();
  });
}

/**
 * With an origin per cluster, a dashboard answers only under its cluster's name, because under another name its scripts would share another cluster's
 * origin.
 */
export function dashboardHosts(dashboardUrl: string, others: readonly string[]): HostCheck {
  const hostOf = (cluster: number): string => new URL(dashboardOrigin(dashboardUrl, cluster)).hostname;
  if (!hasOriginPerCluster(dashboardUrl)) return createHostCheck([hostOf(1), ...others]);
  return (request) => {
    const cluster = parseDashboardPath(request.url ?? '')?.cluster;
    return cluster !== undefined && URL.parse(`http://${request.headers.host ?? ''}`)?.hostname === hostOf(cluster);
  };
}

/** A client that offers another protocol, e.g. HTTP/2, is answered in HTTP/1.1 instead of being refused. */
export const websocketsOnly = {
  shouldUpgradeCallback: ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket',
};
