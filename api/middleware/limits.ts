// How much one request may bring, and how much all of them together.
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';

import { RopewalkError } from '../../domain/errors.ts';
import {
  largeBodyBytes,
  maxAgentBodyBytes,
  maxBodyBytes,
  maxClusterBodyBytes,
  maxSmallBodyBytes,
} from '../../domain/limits.ts';
import type { AppEnv } from '../routes/app.ts';

/** Most of the room is for those who bring files, and none of it for those whom nobody knows yet. */
export const limitBody: MiddlewareHandler<AppEnv> = (c, next) => {
  const [, limit = limitSmall] = limits.find(([prefix]) => c.req.path.startsWith(prefix)) ?? [];
  return limit(c, next);
};

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
    const length = c.req.header('content-length') ?? '';
    // Nobody knows how much comes in chunks; what has neither a length nor chunks has no body, and nothing to wait for.
    if (c.req.header('transfer-encoding') !== undefined) return inRoom(c, maxSize, () => countBytes(c, next));
    if (!/^\d+$/.test(length)) return countBytes(c, next);
    // No more than that is read, and asking for the body itself would make a stream of it: a quarter of an agent's request.
    return Number(length) > maxSize ? onError() : inRoom(c, Number(length), next);
  };
}

/** Large bodies are people's: whoever sends one has shown a token. Until there is room nothing of it is read. */
async function inRoom<T>(c: Context<AppEnv>, bytes: number, receive: () => Promise<T>): Promise<T> {
  if (bytes <= largeBodyBytes || c.var.actor === undefined) return receive();
  const leave = await c.var.deps.bodyRoom.enter(c.var.actor.workspace, bytes, c.req.raw.signal);
  try {
    return await receive();
  } finally {
    leave();
  }
}

const mebibyte = 1024 * 1024;
const limitSmall = limitTo(maxSmallBodyBytes);
const limits: [prefix: string, limit: MiddlewareHandler<AppEnv>][] = [
  ['/v1/jobs', limitTo(maxBodyBytes)],
  ['/v1/clusters', limitTo(maxClusterBodyBytes)],
  ['/v1/package-files/', limitTo(maxBodyBytes)],
  ['/v1/plans/jobs', limitTo(maxBodyBytes)],
  ['/v1/plans/clusters', limitTo(maxClusterBodyBytes)],
  ['/v1/agent/', limitTo(maxAgentBodyBytes)],
];
