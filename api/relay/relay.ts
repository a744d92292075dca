// Dashboards of clusters, shown in a browser: the agent of the head instance keeps one connection to here, and what a
// signed-in browser asks for goes over it. Beside the HTTP application, because bytes are streamed and sockets taken over.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Logger } from 'pino';

import type { Tokens } from '../../platform/tokens.ts';
import { relayPath } from '../../schema/relay.ts';
import type { Views } from '../../services/views.ts';
import { createAgentDoor } from './agents.ts';
import { serveDashboard } from './dashboard.ts';
import { createHub, type Hub, type HubOptions } from './hub.ts';
import { parseDashboardPath } from './paths.ts';
import { createSessions, type Sessions } from './session.ts';
import { refuse, serveWebSocket } from './websockets.ts';

export interface RelayPorts extends HubOptions {
  tokens: Tokens;
  views: Pick<Views, 'clusterOfAgent'>;
  /** Whether the API token that a session hangs from is still good. */
  isGood: Sessions['isGood'];
  publicUrl: string;
  logger: Logger;
  now: () => number;
  /** Aborts when the process is told to end: connections are cut, so that agents and browsers come back elsewhere. */
  stopping: AbortSignal;
  answerWithinMs?: number;
}

export interface Relay {
  hub: Hub;
  /** False when the request is not for a dashboard; else it is answered. */
  answer: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** For the server's upgrades, all of them. */
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

const defaultAnswerWithinMs = 30_000;

export function createDashboardRelay(ports: RelayPorts): Relay {
  const { tokens, logger, now, stopping, answerWithinMs = defaultAnswerWithinMs } = ports;
  const { origin: publicOrigin, protocol } = new URL(ports.publicUrl);
  const hub = createHub(ports);
  const sessions = createSessions({ tokens, isSecure: protocol === 'https:', isGood: ports.isGood });
  const deps = { hub, sessions, publicOrigin, answerWithinMs, now };
  const agentDoor = createAgentDoor({ hub, tokens, views: ports.views });
  const browsers = new Set<Duplex>();
  stopping.addEventListener('abort', () => {
    hub.close();
    for (const socket of browsers) socket.destroy();
  });

  return {
    hub,
    answer: (request, response) => {
      const path = parseDashboardPath(request.url ?? '');
      if (path === null) return false;
      serveDashboard(deps, path, request, response).catch((error: unknown) => {
        logger.error({ err: error, cluster: path.cluster }, 'a dashboard request failed');
        response.destroy();
      });
      // Never the query: it may hold a link's token.
      response.on('finish', () =>
        logger.debug({ cluster: path.cluster, path: path.rest, status: response.statusCode }, 'dashboard answered'),
      );
      return true;
    },
    upgrade: (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      const fail = (error: unknown): void => {
        logger.error({ err: error }, 'a websocket failed');
        socket.destroy();
      };
      if (stopping.aborted) return void socket.destroy();
      if (request.url?.split('?')[0] === relayPath) return void agentDoor(request, socket, head).catch(fail);
      const path = parseDashboardPath(request.url ?? '');
      if (path === null) return refuse(socket, noSuchPlace);
      browsers.add(socket);
      socket.on('close', () => browsers.delete(socket));
      // What came with the head belongs to what comes after it.
      socket.unshift(head);
      serveWebSocket(deps, path, request, socket).catch(fail);
    },
  };
}

const noSuchPlace = { status: 404, title: 'There is no websocket here', text: ['GET /docs lists what there is.'] };
