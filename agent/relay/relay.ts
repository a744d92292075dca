// The head instance's relay for the Dask dashboard: one persistent outbound WebSocket to the API, over which the API opens
// streams to the dashboard on loopback. The agent connects them only to that address.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { createUnderlyingSocket } from './socket.ts';
import { encodeFrame, relayCloseCodes, relayClusterHeader, relayPath, relayPingEveryMs } from '../../schema/relay.ts';
import { createRelayStreams } from '../../schema/relay-streams.ts';

export interface RelayTarget {
  host: string;
  port: number;
}

export interface RelayOptions {
  apiUrl: string;
  /** The current instance token, read for each connection. */
  token: () => string;
  /** A header for the load balancer before the API, which may select the replica by it. */
  cluster: number;
  /** The dashboard's address, or null while there is none. */
  target: () => RelayTarget | null;
  signal: AbortSignal;
  /** Called once when an outage begins and once when it has ended. */
  onTrouble: (text: string) => void;
  /** Reconnects without a message from the API for this long. */
  silentAfterMs?: number;
  maxRetryMs?: number;
}

const firstRetryMs = 500;
const defaultMaxRetryMs = 15_000;
const connectTimeoutMs = 15_000;
/** A connection that lasted this long resets the backoff. */
const settledAfterMs = 30_000;
const closeWithinMs = 1_000;
/** A loopback connection succeeds at once or never. */
const dialTimeoutMs = 10_000;

/** Resolves when the signal aborts, and never rejects: a cluster works without its dashboard. */
export async function createRelay(options: RelayOptions): Promise<void> {
  const { signal, onTrouble, maxRetryMs = defaultMaxRetryMs } = options;
  if (typeof WebSocket === 'undefined') {
    onTrouble('The dashboard cannot be shown: the agent needs Node 22 or later for it.');
    return;
  }
  let isTroubled = false;
  let failures = 0;
  while (!signal.aborted) {
    const connection = await hold(options, () => {
      if (isTroubled) onTrouble('The dashboard relay is connected again.');
      isTroubled = false;
    });
    if (signal.aborted) return;
    // An API that restarts closes in an orderly way; its successor or another replica is available at once.
    if (!isTroubled && !connection.isOrderly)
      onTrouble(`The dashboard relay is disconnected, retrying: ${connection.why}`);
    isTroubled ||= !connection.isOrderly;
    failures = connection.heldMs > settledAfterMs ? 0 : failures + 1;
    const waitMs = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

interface Ended {
  heldMs: number;
  why: string;
  isOrderly: boolean;
}

/** One connection, from dialling to its end. */
async function hold(options: RelayOptions, onOpen: () => void): Promise<Ended> {
  const { apiUrl, cluster, token, target, signal, silentAfterMs = 3 * relayPingEveryMs } = options;
  const url = new URL(relayPath, apiUrl.replace(/^http/, 'ws'));
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const underlying = createUnderlyingSocket();
  const socket = new WebSocket(
    url,
    withHeaders({ ...underlying.headers, authorization: `Bearer ${token()}`, [relayClusterHeader]: String(cluster) }),
  );
  socket.binaryType = 'arraybuffer';
  let openedAtMs: number | null = null;
  const streams = createRelayStreams({
    send: (frame) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(frame);
    },
    accept: (stream) => join(stream, target()),
  });
  const finish = (why: string, isOrderly = false): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    streams.close(why);
    // `close` waits for the other side, which may never answer, so the connection is destroyed shortly after the close frame.
    socket.close();
    setTimeout(underlying.end, closeWithinMs);
    resolve({ heldMs: openedAtMs === null ? 0 : performance.now() - openedAtMs, why, isOrderly });
  };
  const abort = (): void => finish('the agent ends', true);
  let timer = setTimeout(() => finish('the API did not answer'), connectTimeoutMs);
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => finish('the API has gone silent'), silentAfterMs);
  };
  signal.addEventListener('abort', abort, { once: true });
  socket.addEventListener('open', () => {
    openedAtMs = performance.now();
    heard();
    onOpen();
  });
  socket.addEventListener('message', ({ data }) => {
    heard();
    const outcome = data instanceof ArrayBuffer ? streams.receive(new Uint8Array(data)) : 'broken';
    if (outcome === 'ping') socket.send(encodeFrame({ kind: 'pong' }));
    if (outcome === 'broken') finish('the API sent what is no frame');
  });
  socket.addEventListener('error', () => finish('no connection to the API'));
  socket.addEventListener('close', ({ code }) =>
    finish(`the API hung up (${code})`, code === relayCloseCodes.draining || code === relayCloseCodes.replaced),
  );
  if (signal.aborted) abort();
  return promise;
}

function join(stream: Duplex, target: RelayTarget | null): void {
  if (target === null) {
    stream.destroy(new Error('the Dask scheduler has not started'));
    return;
  }
  // The port comes from a Dask process's output, and `connect` throws for an invalid one.
  if (!(target.port > 0 && target.port <= 65_535)) {
    stream.destroy(new Error(`the dashboard has no port: ${target.port}`));
    return;
  }
  const socket: Socket = connect({ ...target, allowHalfOpen: true, noDelay: true });
  const timer = setTimeout(() => socket.destroy(new Error('the dashboard does not answer')), dialTimeoutMs);
  socket.once('connect', () => clearTimeout(timer));
  socket.on('error', (error) => stream.destroy(new Error(`the dashboard hung up: ${error.message}`)));
  socket.on('close', () => {
    clearTimeout(timer);
    if (!stream.writableEnded) stream.destroy();
  });
  stream.on('close', () => socket.destroy());
  socket.pipe(stream);
  stream.pipe(socket);
}

/** Node's WebSocket accepts headers; the browser's, which has this type, does not: the only cast, checked by the relay tests. */
function withHeaders(headers: Record<string, string>): string[] {
  const init: unknown = { headers };
  return init as string[];
}
