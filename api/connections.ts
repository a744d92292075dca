// Limits how long a connection may take to send a request, and the number of connections, in total and from one address. When room is needed, the
// oldest connection without a complete request is closed, so silent connections block no client.
import type { IncomingMessage, ServerOptions } from 'node:http';
import { Server, type Socket } from 'node:net';

import { parseIpv6 } from '../domain/ipv6.ts';

export interface ConnectionLimits {
  maxConnections: number;
  /** Maximum from one address; for IPv6 from one /64. Null: behind a proxy every connection has the proxy's address. */
  maxOfAddress: number | null;
  /** From the first byte of a request to the end of its headers. */
  headersMs: number;
  /** From the first byte of a request to the end of its body. */
  requestMs: number;
}

/** Options for `createServer`. Node answers 408 to slow clients, and 431 to headers that are too large. */
export const serverOptions = ({ headersMs, requestMs }: Pick<ConnectionLimits, 'headersMs' | 'requestMs'>) =>
  ({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(30_000, Math.max(100, Math.floor(headersMs / 4))),
    maxHeaderSize: maxHeaderBytes,
  }) satisfies ServerOptions;

/** For servers that upgrade connections. A new connection beyond a limit is closed only when no older one can be closed. */
export function limitConnections(
  server: object,
  { maxConnections, maxOfAddress }: Pick<ConnectionLimits, 'maxConnections' | 'maxOfAddress'>,
): void {
  if (!(server instanceof Server)) throw new Error('this server has no connections to count');
  const all = newPlaces();
  const networks = new Map<string, Places>();
  const placesOf = new Map<Socket, Places[]>();
  const settle = (socket: Socket): void => {
    for (const { silent, sending } of placesOf.get(socket) ?? []) {
      silent.delete(socket);
      sending.delete(socket);
    }
  };
  const leave = (socket: Socket): void => {
    settle(socket);
    for (const places of placesOf.get(socket) ?? []) places.open -= 1;
    placesOf.delete(socket);
  };
  const oldestOf = ({ silent, sending }: Places): Socket | null => {
    for (const socket of silent) return socket;
    for (const [socket, request] of sending) {
      if (!request.complete) return socket;
      settle(socket);
    }
    return null;
  };
  const makeRoom = (places: Places, max: number): boolean => {
    if (places.open < max) return true;
    const oldest = oldestOf(places);
    if (oldest === null) return false;
    leave(oldest);
    oldest.destroy();
    return true;
  };
  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress);
    const own = networks.get(network) ?? newPlaces();
    if (!makeRoom(own, maxOfAddress ?? Infinity) || !makeRoom(all, maxConnections)) {
      socket.destroy();
      return;
    }
    networks.set(network, own);
    placesOf.set(socket, [own, all]);
    for (const places of [own, all]) {
      places.open += 1;
      places.silent.add(socket);
    }
    socket.once('close', () => {
      leave(socket);
      if (own.open === 0 && networks.get(network) === own) networks.delete(network);
    });
  });
  server.on('request', (request: IncomingMessage) => {
    for (const places of placesOf.get(request.socket) ?? []) {
      if (places.silent.delete(request.socket)) places.sending.set(request.socket, request);
    }
  });
  server.on('upgrade', ({ socket }: IncomingMessage) => settle(socket));
}

/** Connections of a process, or of one address. */
interface Places {
  open: number;
  /** Without a request's headers yet; the oldest first, as in `sending`. */
  silent: Set<Socket>;
  /** With their first request, whose body may still be arriving. */
  sending: Map<Socket, IncomingMessage>;
}

const newPlaces = (): Places => ({ open: 0, silent: new Set(), sending: new Map() });

/** One customer has a whole /64 of IPv6. */
function networkOf(address = ''): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return parseIpv6(plain)?.slice(0, 4).join(':') ?? plain;
}

const maxHeaderBytes = 16 * 1024;
