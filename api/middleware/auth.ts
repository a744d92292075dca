// Authenticates users and programs by an API token, and agents by the token of their launch or their own. Runs before any body is read, and for users
// again after it.
import type { Context, MiddlewareHandler } from 'hono';

import { RopewalkError } from '../../domain/errors.ts';
import { maxSmallBodyBytes } from '../../domain/requests/limits.ts';
import { contextOf, type AppEnv } from '../routes/app.ts';
import { requireLiveOrStopping } from '../../services/agents/live-instance.ts';
import { callerOf, callerOfInstance, callerOfLaunch } from '../../services/auth/caller.ts';
import { bodyBytes, cutOff, isStreamed } from './body-bytes.ts';
import { verifyAgain, verifyToken } from '../../services/auth/verify-token.ts';

export const requireToken: MiddlewareHandler<AppEnv> = async (c, next) => {
  const actor = await verifyToken(c.var.deps, bearer(c));
  c.set('actor', actor);
  const { fairQueue, quotas } = c.var.deps;
  const caller = callerOf(actor);
  // Refusals take time too.
  await fairQueue.enter(caller);
  quotas.request(caller);
  await next();
};

/** Checks the token again after a slow body has arrived. Runs after the body limits. */
export const requireTokenStill: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { actor, deps } = c.var;
  if (actor !== undefined && bodied.has(c.req.method) && !isStreamed(c.req)) {
    // Hono caches the first form that is read; reading as text would change the bytes of a file. A large JSON has been read as text.
    if (c.req.bodyCache.text === undefined) await c.req.arrayBuffer().catch(cutOff);
    c.set('actor', await verifyAgain(deps, actor));
  }
  await next();
};

const bodied = new Set(['POST', 'PUT', 'PATCH']);

export const requireLaunch: MiddlewareHandler<AppEnv> = async (c, next) => {
  const launch = await c.var.deps.tokens.verifyLaunch(bearer(c));
  c.set('launch', launch);
  c.var.deps.quotas.request(callerOfLaunch(launch));
  await next();
};

export const requireInstance: MiddlewareHandler<AppEnv> = async (c, next) => {
  const instance = await c.var.deps.tokens.verifyInstance(bearer(c));
  c.set('instance', instance);
  c.var.deps.quotas.request(callerOfInstance(instance));
  const bytes = bodyBytes(c.req);
  if (bytes === 'unknown' || (bytes ?? 0) > maxSmallBodyBytes) await requireLiveOrStopping(contextOf(c, instance));
  await next();
};

function bearer(c: Context<AppEnv>): string {
  const [scheme, token, ...rest] = (c.req.header('authorization') ?? '').split(' ');
  if (scheme?.toLowerCase() === 'bearer' && token !== undefined && rest.length === 0) return token;
  throw new RopewalkError({
    code: 'UNAUTHENTICATED',
    message: 'This needs a token.',
    hint: 'Send it as `Authorization: Bearer TOKEN`.',
  });
}
