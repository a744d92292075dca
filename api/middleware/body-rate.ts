// A body that is being received holds memory that others wait for, so a very slow sender is refused within seconds.
import type { Context } from 'hono';

import { RopewalkError } from '../../domain/errors.ts';
import { bodyRateEveryMs, minBodyBytesPerSecond } from '../../domain/requests/limits.ts';
import type { AppEnv } from '../routes/app.ts';
import { incomingOf } from './incoming.ts';

/** Rejects with TIMEOUT when less than `minBodyBytesPerSecond` arrived in two consecutive rounds, and then closes the connection. */
export async function notTooSlow<T>(c: Context<AppEnv>, receive: () => Promise<T>): Promise<T> {
  const incoming = incomingOf(c);
  if (incoming === null) return receive();
  const slow = Promise.withResolvers<never>();
  const minBytes = (minBodyBytesPerSecond * bodyRateEveryMs) / 1_000;
  let before = incoming.socket.bytesRead;
  // A single round may be a pause of this process.
  let slowRounds = 0;
  const timer = setInterval(() => {
    const now = incoming.socket.bytesRead;
    if (incoming.complete) return clearInterval(timer);
    slowRounds = now - before < minBytes ? slowRounds + 1 : 0;
    before = now;
    if (slowRounds < 2) return undefined;
    c.header('Connection', 'close');
    return slow.reject(tooSlow());
  }, bodyRateEveryMs);
  try {
    return await Promise.race([receive(), slow.promise]);
  } finally {
    clearInterval(timer);
  }
}

const tooSlow = (): RopewalkError =>
  new RopewalkError(
    {
      code: 'TIMEOUT',
      message: `The body of the request came too slowly: less than ${minBodyBytesPerSecond / 1024} KiB a second.`,
      hint: 'Send it again over a better connection, or send a smaller one.',
    },
    { retryAfterMs: 5_000 },
  );
