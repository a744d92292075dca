// The bytes of a large body, each copied once as it arrives: to join them at the end would keep other requests waiting.
import { IncomingMessage } from 'node:http';

import type { Context } from 'hono';

import { bodyBytes } from '../middleware/body-bytes.ts';
import type { AppEnv } from '../routes/app.ts';

export async function receiveBody(c: Context<AppEnv>): Promise<Uint8Array<ArrayBuffer>> {
  const length = bodyBytes(c.req);
  const env: unknown = c.env;
  const incoming: unknown = typeof env === 'object' && env !== null && 'incoming' in env ? env.incoming : null;
  if (!(incoming instanceof IncomingMessage) || typeof length !== 'number')
    return new Uint8Array(await c.req.arrayBuffer());
  const bytes = new Uint8Array(length);
  let received = 0;
  // Node closes a connection that sends more or less than it has announced.
  for await (const chunk of incoming) {
    bytes.set(chunk, received);
    received += chunk.length;
  }
  return bytes;
}
