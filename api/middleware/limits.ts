// Limits the body size of one request, the memory of all bodies together, and slow senders.
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';

import { RopewalkError } from '../../domain/errors.ts';
import {
  countedBodyBytes,
  maxAgentBodyBytes,
  maxAnonymousBodyBytes,
  maxBodyBytes,
  maxClusterBodyBytes,
  maxSmallBodyBytes,
} from '../../domain/requests/limits.ts';
import { callerOf, callerOfAgents } from '../../services/auth/caller.ts';
import type { QuotaCaller } from '../../services/quotas.ts';
import type { AppEnv } from '../routes/app.ts';
import { bodyBytes, isStreamed } from './body-bytes.ts';
import { notTooSlow } from './body-rate.ts';

/** Uploads of files have the highest limits, and callers without a token the lowest. */
export const limitBody: MiddlewareHandler<AppEnv> = (c, next) => {
  if (isStreamed(c.req)) return next();
  if (bodyCallerOf(c) === null) return limitAnonymous(c, next);
  const [, limit = limitSmall] = limits.find(([prefix]) => c.req.path.startsWith(prefix)) ?? [];
  return limit(c, next);
};

export function bodyCallerOf(c: Context<AppEnv>): QuotaCaller | null {
  const { actor, instance, launch } = c.var;
  if (actor !== undefined) return callerOf(actor);
  const agent = instance ?? launch;
  return agent === undefined ? null : callerOfAgents(agent);
}

function limitTo(maxSize: number): MiddlewareHandler<AppEnv> {
  const onError = (): never => {
    const most = maxSize < mebibyte ? `${maxSize / 1024} KiB` : `${maxSize / mebibyte} MiB`;
    throw new RopewalkError({
      code: 'TOO_LARGE',
      message: `A request body may have at most ${most} here.`,
      hint: 'Send large inputs another way, and only their names with the job.',
    });
  };
  const countBytes = bodyLimit({ maxSize, onError });
  return (c, next) => {
    const bytes = bodyBytes(c.req);
    // There is no body to wait for.
    if (bytes === null) return countBytes(c, next);
    if (bytes === 'unknown') return inRoom(c, maxSize, () => countBytes(c, next));
    // At most this many bytes are read. Accessing the body itself would create a stream, which costs a quarter of an agent's request.
    return bytes > maxSize ? onError() : inRoom(c, bytes, next);
  };
}

/** Reads nothing of a body until there is memory for it. */
async function inRoom<T>(c: Context<AppEnv>, bytes: number, receive: () => Promise<T>): Promise<T> {
  const caller = bodyCallerOf(c);
  if (bytes <= countedBodyBytes || caller === null) return receive();
  const { quotas, bodyMemory } = c.var.deps;
  quotas.body(caller, bytes);
  const leave = await bodyMemory.enter(caller, bytes, c.req.raw.signal);
  try {
    return await notTooSlow(c, receive);
  } finally {
    leave();
  }
}

const mebibyte = 1024 * 1024;
const limitAnonymous = limitTo(maxAnonymousBodyBytes);
const limitSmall = limitTo(maxSmallBodyBytes);
const limits: [prefix: string, limit: MiddlewareHandler<AppEnv>][] = [
  ['/v1/jobs', limitTo(maxBodyBytes)],
  ['/v1/schedules', limitTo(maxBodyBytes)],
  ['/v1/clusters', limitTo(maxClusterBodyBytes)],
  ['/v1/package-files/', limitTo(maxBodyBytes)],
  ['/v1/file-', limitTo(maxClusterBodyBytes)],
  ['/v1/filestores/', limitTo(maxClusterBodyBytes)],
  // A plan reads only the header of a script, so clients send no more of each file.
  ['/v1/plans/jobs', limitTo(maxClusterBodyBytes)],
  ['/v1/plans/clusters', limitTo(maxClusterBodyBytes)],
  ['/v1/agent/', limitTo(maxAgentBodyBytes)],
];
