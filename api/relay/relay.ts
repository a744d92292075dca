// Cluster dashboards in a browser: the agent of the head instance keeps one connection to this process, which carries the requests of signed-in
// browsers. Agents connect at the API's own port. Browsers use a separate port, because a dashboard's scripts are written by the cluster's users and
// must not share the API's origin.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Logger } from 'pino';

import type { Tokens } from '../../platform/tokens.ts';
import { dashboardOrigin } from '../../domain/cluster/dask/dashboard-url.ts';
import { relayPath } from '../../schema/relay.ts';
import type { Views } from '../../services/views.ts';
import { createAgentUpgrade } from './agents.ts';
import { serveDashboard, type DashboardDeps } from './dashboard.ts';
import { createHub, type Hub, type HubOptions } from './hub.ts';
import { nothingPage, sendPage } from './pages.ts';
import { parseDashboardPath } from './paths.ts';
import { createSessions, type Sessions } from './session.ts';
import { refuse, serveWebSocket } from './websockets.ts';

export interface RelayPorts extends HubOptions {
  tokens: Tokens;
  views: Pick<Views, 'clusterOfAgent'>;
  /** Whether the API token of a session is still valid. */
  isGood: Sessions['isGood'];
  jupyterToken: DashboardDeps['jupyterToken'];
  /** See domain/cluster/dask/dashboard-url.ts. */
  dashboardUrl: string;
  apiUrl: string;
  logger: Logger;
  now: () => number;
  /** Aborts when the process must end: connections are cut, so agents and browsers reconnect elsewhere. */
  stopping: AbortSignal;
  answerWithinMs?: number;
}

export interface Relay {
  hub: Hub;
  /** Handles all requests at the dashboards' port. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  /** Handles all upgrades at the dashboards' port. */
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Handles all upgrades at the API's port, which only agents request. */
  upgradeAgent: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

const defaultAnswerWithinMs = 30_000;

export function createDashboardRelay(ports: RelayPorts): Relay {
  const { tokens, logger, now, stopping, answerWithinMs = defaultAnswerWithinMs } = ports;
  const { dashboardUrl, apiUrl, jupyterToken } = ports;
  const originOf = (cluster: number): string => dashboardOrigin(dashboardUrl, cluster);
  const hub = createHub(ports);
  const sessions = createSessions({ tokens, isSecure: dashboardUrl.startsWith('https:'), isGood: ports.isGood });
  const deps = { hub, sessions, originOf, apiUrl, jupyterToken, answerWithinMs, now };
  const agentUpgrade = createAgentUpgrade({ hub, tokens, views: ports.views });
  const browsers = new Set<Duplex>();
  stopping.addEventListener('abort', () => {
    hub.close();
    for (const socket of browsers) socket.destroy();
  });

  const fail =
    (socket: Duplex) =>
    (error: unknown): void => {
      logger.error({ err: error }, 'a websocket failed');
      socket.destroy();
    };
  return {
    hub,
    answer: (request, response) => {
      const path = parseDashboardPath(request.url ?? '');
      if (path === null) return sendPage(response, nothingPage);
      serveDashboard(deps, path, request, response).catch((error: unknown) => {
        logger.error({ err: error, cluster: path.cluster }, 'a dashboard request failed');
        response.destroy();
      });
      // Never logs the query, which may contain a link's token.
      response.on('finish', () =>
        logger.debug({ cluster: path.cluster, path: path.rest, status: response.statusCode }, 'dashboard answered'),
      );
    },
    upgrade: (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      if (stopping.aborted) return void socket.destroy();
      const path = parseDashboardPath(request.url ?? '');
      if (path === null) return refuse(socket, nothingPage);
      browsers.add(socket);
      socket.on('close', () => browsers.delete(socket));
      // Bytes that arrived with the head belong to the stream that follows.
      socket.unshift(head);
      serveWebSocket(deps, path, request, socket).catch(fail(socket));
    },
    upgradeAgent: (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      if (stopping.aborted) return void socket.destroy();
      if (request.url?.split('?')[0] !== relayPath) return refuse(socket, noSuchPlace);
      agentUpgrade(request, socket, head).catch(fail(socket));
    },
  };
}

const noSuchPlace = { status: 404, title: 'There is no websocket here', text: ['GET /docs lists all routes.'] };
