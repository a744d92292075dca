// How long a connection may take to say what it wants, and how many there may be, in all and from one address. When room is
// needed, the oldest connection that has not sent a whole request yet gives way: silent connections keep no client out.
import type { IncomingMessage, ServerOptions } from 'node:http';
import { Server, type Socket } from 'node:net';

import { parseIpv6 } from '../domain/ipv6.ts';

export interface ConnectionLimits {
  maxConnections: number;
  /** Of them from one address: of IPv6 from one /64. Null: behind a proxy every connection has the proxy's address. */
  maxOfAddress: number | null;
  /** From the first byte of a request to the last of its headers. */
  headersMs: number;
  /** From the first byte of a request to the last of its body. */
  requestMs: number;
}

/** For `createServer`. Node answers 408 to slow clients, and 431 to headers that are too large. */
export const serverOptions = ({ headersMs, requestMs }: Pick<ConnectionLimits, 'headersMs' | 'requestMs'>) =>
  ({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(30_000, Math.max(100, Math.floor(headersMs / 4))),
    maxHeaderSize: maxHeaderBytes,
  }) satisfies ServerOptions;

/** For servers that upgrade connections. A new connection beyond a limit is closed only when no older one gives way. */
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

/** Of a process, or of one address. */
interface Places {
  open: number;
  /** Without the headers of a request yet; the oldest first, as in `sending`. */
  silent: Set<Socket>;
  /** With the first request, whose body may be on its way. */
  sending: Map<Socket, IncomingMessage>;
}

const newPlaces = (): Places => ({ open: 0, silent: new Set(), sending: new Map() });

/** One customer has a whole /64 of IPv6. */
function networkOf(address = ''): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return parseIpv6(plain)?.slice(0, 4).join(':') ?? plain;
}

const maxHeaderBytes = 16 * 1024;
