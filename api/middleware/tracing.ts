// A span around every request of a user, when tracing is on. Agents' requests and probes begin no trace.
import type { MiddlewareHandler } from 'hono';

import type { AppEnv } from '../routes/app.ts';
import { logFields } from './log-fields.ts';
import { routeOf } from './metrics.ts';

export const traceRequest: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { trace } = c.var.deps;
  if (trace === undefined || !c.req.path.startsWith('/v1/') || c.req.path.startsWith('/v1/agent/')) return next();
  const route = routeOf(c);
  const traceparent = c.req.header('traceparent');
  const span = {
    name: `${c.req.method} ${route}`,
    attributes: { 'http.request.method': c.req.method, 'http.route': route },
    headers: traceparent === undefined ? {} : { traceparent },
  };
  await trace(span, async () => {
    await next();
    return { status: c.res.status, about: { ...logFields(c) } };
  });
};
