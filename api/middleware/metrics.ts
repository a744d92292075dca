// Counts requests by route pattern, method and status: closed sets, whatever a caller sends.
import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';

import type { AppEnv } from '../routes/app.ts';

export const countRequest: MiddlewareHandler<AppEnv> = async (c, next) => {
  const startedAtMs = performance.now();
  const { metrics, stopping } = c.var.deps;
  metrics.requestBegins();
  try {
    await next();
  } finally {
    const method = methods.has(c.req.method) ? c.req.method : 'OTHER';
    const ms = performance.now() - startedAtMs;
    metrics.requestEnds({ route: routeOf(c), method, status: c.res.status, ms });
    // A client that kept its connection to an ending process would lose its next request.
    if (stopping.aborted) c.header('Connection', 'close');
  }
};

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

/** The pattern of the answering handler; `none` without one. */
export function routeOf(c: Context<AppEnv>): string {
  return matchedRoutes(c).findLast(({ method }) => method !== 'ALL')?.path ?? 'none';
}
