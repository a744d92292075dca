// The connected agents by cluster, at this replica. The newest connection of a head instance is the live one. Agents' messages are untrusted, because
// users' code runs on their machines.
import type { Duplex } from 'node:stream';

import type { RawData, WebSocket } from 'ws';

import { encodeFrame, relayCloseCodes, relayPingEveryMs } from '../../schema/relay.ts';
import { createRelayStreams, type RelayStreams } from '../../schema/relay-streams.ts';

export interface Hub {
  add(cluster: number, socket: WebSocket): void;
  /** A stream to the cluster's dashboard, or why there is none. */
  open(cluster: number): Duplex | 'away' | 'full';
  /** Number of streams of one cluster. */
  streams(cluster: number): number;
  close(): void;
}

const goingDown = 'the API is going down';
/** An agent that does not read while frames for it accumulate is broken: the windows of all its streams fit in this size. */
const maxUnsentBytes = 16 * 1024 * 1024;

export function createHub({ pingEveryMs = relayPingEveryMs, maxStreams }: HubOptions = {}): Hub {
  const agents = new Map<number, { socket: WebSocket; streams: RelayStreams }>();
  let isClosed = false;
  const hangUp = (socket: WebSocket, code: number, why: string): void => {
    socket.close(code, why);
    // An orderly close waits for an answer that may never arrive.
    setTimeout(() => socket.terminate(), 1_000).unref();
  };

  return {
    add(cluster, socket) {
      // The agent connected while the process was ending: nothing else closes this socket, and the server waits for it.
      if (isClosed) {
        socket.on('error', () => socket.terminate());
        return hangUp(socket, relayCloseCodes.draining, goingDown);
      }
      agents.get(cluster)?.socket.close(relayCloseCodes.replaced, 'a newer connection has taken its place');
      const end = (code: number, why: string): void => {
        streams.close(why);
        hangUp(socket, code, why);
      };
      const streams = createRelayStreams({
        ...(maxStreams === undefined ? {} : { maxStreams }),
        send: (frame) => {
          if (socket.bufferedAmount > maxUnsentBytes) socket.terminate();
          else socket.send(frame);
        },
      });
      let heardAtMs = performance.now();
      const pings = setInterval(() => {
        if (performance.now() - heardAtMs > 3 * pingEveryMs) end(relayCloseCodes.silent, 'no sign of life');
        else socket.send(encodeFrame({ kind: 'ping' }));
      }, pingEveryMs);
      socket.on('message', (data, isBinary) => {
        heardAtMs = performance.now();
        const outcome = isBinary ? streams.receive(bytesOf(data)) : 'broken';
        // Agents have no reason to send pings, which could make us answer without end.
        if (outcome === 'broken' || outcome === 'ping') end(relayCloseCodes.protocol, 'not a frame of the relay');
      });
      socket.on('error', () => socket.terminate());
      socket.on('close', () => {
        clearInterval(pings);
        streams.close('the agent is disconnected');
        if (agents.get(cluster)?.socket === socket) agents.delete(cluster);
      });
      agents.set(cluster, { socket, streams });
    },
    open(cluster) {
      const agent = agents.get(cluster);
      if (agent === undefined || agent.socket.readyState !== agent.socket.OPEN) return 'away';
      return agent.streams.open() ?? 'full';
    },
    streams: (cluster) => agents.get(cluster)?.streams.count() ?? 0,
    close() {
      isClosed = true;
      for (const { socket, streams } of agents.values()) {
        streams.close(goingDown);
        hangUp(socket, relayCloseCodes.draining, goingDown);
      }
    },
  };
}

export interface HubOptions {
  pingEveryMs?: number;
  maxStreams?: number;
}

function bytesOf(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}
