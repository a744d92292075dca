// The TCP connection under a Node WebSocket, which has no way to end it: `close` waits for the other side's answer forever.
// Node publishes each request and its connection on a documented diagnostics channel.
import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';

const channel = 'undici:client:sendHeaders';
const header = 'ropewalk-connection';

export interface UnderlyingSocket {
  /** Must be sent with the request; they identify it on the channel. */
  headers: Record<string, string>;
  /** Waits for no answer. */
  end: () => void;
}

export function createUnderlyingSocket(): UnderlyingSocket {
  const id = randomUUID();
  let socket: Socket | null = null;
  const look = (message: unknown): void => {
    if (typeof message !== 'object' || message === null || !('headers' in message && 'socket' in message)) return;
    if (message.socket instanceof Socket && String(message.headers).includes(id)) socket = message.socket;
  };
  subscribe(channel, look);
  return {
    headers: { [header]: id },
    end: () => {
      unsubscribe(channel, look);
      socket?.destroy();
    },
  };
}
