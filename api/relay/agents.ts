// GET /v1/agent/relay: the agent of a cluster's head instance connects. No other agent may, because the agent that serves a dashboard controls the
// users' view.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import { WebSocketServer } from 'ws';

import { errorCodes, RopewalkError, type ErrorCode } from '../../domain/errors.ts';
import type { Tokens } from '../../platform/tokens.ts';
import { maxRelayFrameBytes } from '../../schema/relay.ts';
import type { Views } from '../../services/views.ts';
import type { Hub } from './hub.ts';

export interface AgentDeps {
  hub: Hub;
  tokens: Pick<Tokens, 'verifyInstance'>;
  views: Pick<Views, 'clusterOfAgent'>;
}

export type AgentUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;

export function createAgentUpgrade({ hub, tokens, views }: AgentDeps): AgentUpgrade {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxRelayFrameBytes,
  });
  const admit = async (request: IncomingMessage): Promise<number> => {
    const [, token = ''] = /^Bearer ([^ ]+)$/i.exec(request.headers.authorization ?? '') ?? [];
    const { workspace, cluster, instance } = await tokens.verifyInstance(token);
    const view = await views.clusterOfAgent(workspace, cluster, freshForMs);
    const heads = view.instances.filter(({ role, state }) => role === 'head' && live.has(state));
    // A head instance that was given up may live for a while; only its successor counts.
    const newest = heads.toSorted((one, other) => other.generation - one.generation)[0];
    if (view.endedAtMs !== null || newest?.id !== instance) throw notTheHead;
    return cluster;
  };
  return async (request, socket, head) => {
    try {
      const cluster = await admit(request);
      server.handleUpgrade(request, socket, head, (connection) => hub.add(cluster, connection));
    } catch (error) {
      answer(socket, error instanceof RopewalkError ? error.problem.code : 'INTERNAL');
      if (!(error instanceof RopewalkError)) throw error;
    }
  };
}

const freshForMs = 1_000;
const live = new Set(['starting', 'started', 'ready']);

const notTheHead = new RopewalkError({
  code: 'FORBIDDEN',
  message: 'Only the head instance of an open cluster connects.',
});

function answer(socket: Duplex, code: ErrorCode): void {
  const { status } = errorCodes[code];
  const body = JSON.stringify({ error: { code } });
  const head = `HTTP/1.1 ${status} ${code}\r\nconnection: close\r\ncontent-type: application/json\r\n`;
  socket.end(`${head}content-length: ${body.length}\r\n\r\n${body}`, () => socket.destroy());
}
