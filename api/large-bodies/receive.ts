// The bytes of a large body, each copied once as it arrives: to join them at the end would keep other requests waiting.
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';

import type { Context } from 'hono';

import { bodyBytes } from '../middleware/body-bytes.ts';
import { incomingOf } from '../middleware/incoming.ts';
import type { AppEnv } from '../routes/app.ts';

export async function receiveBody(c: Context<AppEnv>): Promise<Uint8Array<ArrayBuffer>> {
  const length = bodyBytes(c.req);
  const incoming = incomingOf(c);
  if (incoming !== null && typeof length === 'number') return receive(incoming, length);
  return new Uint8Array(await c.req.arrayBuffer());
}

/** Node closes a connection that sends more or less than it has announced. */
async function receive(incoming: IncomingMessage, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  let received = 0;
  let pauseAt = turnBytes;
  incoming.on('data', (chunk: Buffer) => {
    bytes.set(chunk, received);
    received += chunk.byteLength;
    if (received < pauseAt) return;
    pauseAt = received + turnBytes;
    incoming.pause();
    setImmediate(() => incoming.resume());
  });
  await finished(incoming, { writable: false });
  return bytes;
}

/** Received in a turn of the event loop: from a fast sender, Node reads up to 2 MiB without a break. */
const turnBytes = 256 * 1024;
