// Who may enter: people and programs with an API token, agents with the token of their launch or their own. Runs before
// any body is read.
import type { Context, MiddlewareHandler } from 'hono';

import { RopewalkError } from '../../domain/errors.ts';
import type { AppEnv } from '../routes/app.ts';
import { verifyToken } from '../services/auth/verify-token.ts';

export const requireToken: MiddlewareHandler<AppEnv> = async (c, next) => {
  c.set('actor', await verifyToken(c.var.deps, bearer(c)));
  await next();
};

export const requireLaunch: MiddlewareHandler<AppEnv> = async (c, next) => {
  c.set('launch', await c.var.deps.tokens.verifyLaunch(bearer(c)));
  await next();
};

export const requireInstance: MiddlewareHandler<AppEnv> = async (c, next) => {
  c.set('instance', await c.var.deps.tokens.verifyInstance(bearer(c)));
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
