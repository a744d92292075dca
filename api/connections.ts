// How long a connection may take to say what it wants, and how many there may be: one that sends a byte a minute, or
// nothing, holds a place of another client.
import type { ServerOptions } from 'node:http';
import { Server } from 'node:net';

export interface ConnectionLimits {
  maxConnections: number;
  /** From the first byte of a request to the last of its headers. */
  headersMs: number;
  /** From the first byte of a request to the last of its body. */
  requestMs: number;
}

/** For `createServer`. Node answers 408 to slow clients, and 431 to headers that are too large. */
export const serverOptions = ({ headersMs, requestMs }: ConnectionLimits): ServerOptions => ({
  headersTimeout: headersMs,
  requestTimeout: requestMs,
  connectionsCheckingInterval: Math.min(30_000, Math.max(100, Math.floor(headersMs / 4))),
  maxHeaderSize: maxHeaderBytes,
});

/** Connections over the limit are closed before anything is read from them. */
export function limitConnections(server: object, { maxConnections }: ConnectionLimits): void {
  if (!(server instanceof Server)) throw new Error('this server has no connections to count');
  server.maxConnections = maxConnections;
}

const maxHeaderBytes = 16 * 1024;
