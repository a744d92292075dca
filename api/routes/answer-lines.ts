// Responses in lines of JSON, from a service that reads until its reader disconnects.
import type { Context } from 'hono';

import { RopewalkError } from '../../domain/errors.ts';
import { errorLineOf } from '../middleware/errors.ts';
import { logFields } from '../middleware/log-fields.ts';
import { routeOf } from '../middleware/metrics.ts';
import { callerOf } from '../../services/auth/caller.ts';
import { watchAccess, type AccessWatch } from '../../services/auth/access-watch.ts';
import { isStillGood } from '../../services/auth/verify-token.ts';
import type { AppEnv } from './app.ts';
import { ndjsonStream } from './ndjson.ts';
import { ndjsonType } from './schemas.ts';

export async function answerLines(
  c: Context<AppEnv>,
  follow: 'true' | 'false',
  read: (how: { follow: boolean; signal: AbortSignal }) => Promise<AsyncIterable<unknown>>,
): Promise<Response> {
  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, c.req.raw.signal]);
  const { deps, actor } = c.var;
  const release = deps.quotas.stream(callerOf(actor));
  const lines = await read({ follow: follow === 'true', signal }).catch((error: unknown) => {
    release();
    throw error;
  });
  // No client reads the lines of a HEAD request, so they would never end, and their quota would never be released.
  if (c.req.method === 'HEAD') {
    release();
    return c.body(null, 200, headers);
  }
  const access = watchAccess(
    () => isStillGood(deps, actor),
    () => left.abort(),
  );
  const route = routeOf(c);
  deps.metrics.streamBegins(route);
  let isOpen = true;
  const ends = () => {
    if (isOpen) deps.metrics.streamEnds(route);
    isOpen = false;
    release();
  };
  const stream = ndjsonStream(whileAllowed(lines, access), {
    leave: () => left.abort(),
    onEnd: ends,
    onError: (error) => {
      deps.logger.warn({ ...logFields(c), err: error }, 'a stream of lines was cut short');
      return errorLineOf(error, c);
    },
  });
  return c.body(stream, 200, headers);
}

const headers = { 'Content-Type': ndjsonType, 'Cache-Control': 'no-store' };

/** A stream that ends because its token was revoked must not look complete. */
async function* whileAllowed(lines: AsyncIterable<unknown>, access: AccessWatch): AsyncGenerator<unknown> {
  try {
    for await (const line of lines) {
      if (access.isLost()) break;
      yield line;
    }
  } finally {
    access.end();
  }
  if (access.isLost()) throw new RopewalkError({ code: 'UNAUTHENTICATED', message: 'The token is no longer good.' });
}
