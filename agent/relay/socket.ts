// The TCP connection under a WebSocket of Node's, which has no way to end it: `close` waits for the other side's answer for
// ever. Node tells of each request and its connection on a documented channel of diagnostics.
import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';

const channel = 'undici:client:sendHeaders';
const header = 'ropewalk-connection';

export interface UnderlyingSocket {
  /** To be sent with the request, by which it is known again. */
  headers: Record<string, string>;
  /** Nobody is waited for. */
  end: () => void;
}

export function createUnderlyingSocket(): UnderlyingSocket {
  const id = randomUUID();
  let socket: Socket | null = null;
  const look = (told: unknown): void => {
    if (typeof told !== 'object' || told === null || !('headers' in told && 'socket' in told)) return;
    if (told.socket instanceof Socket && String(told.headers).includes(id)) socket = told.socket;
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
