// Node's own request behind a request of Hono.
import { IncomingMessage } from 'node:http';

import type { Context } from 'hono';

import type { AppEnv } from '../routes/app.ts';

/** Null where no connection is behind it, as in tests. */
export function incomingOf(c: Context<AppEnv>): IncomingMessage | null {
  const env: unknown = c.env;
  const incoming: unknown = typeof env === 'object' && env !== null && 'incoming' in env ? env.incoming : null;
  return incoming instanceof IncomingMessage ? incoming : null;
}

/** The client has closed its connection before all of the body arrived. */
export function hasLeft(c: Context<AppEnv>): boolean {
  const incoming = incomingOf(c);
  return incoming !== null && incoming.destroyed && !incoming.complete;
}
