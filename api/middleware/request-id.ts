// Every request has an id, the caller's own if it sent one. Responses, errors and log lines contain it.
import type { MiddlewareHandler } from 'hono';
import { requestId } from 'hono/request-id';

import type { AppEnv } from '../routes/app.ts';
import { logFields } from './log-fields.ts';

export const identifyRequest: MiddlewareHandler<AppEnv> = requestId({ limitLength: 128 });

/** Logs one line per answered request; those of agents only at debug level, because they are frequent. Never logs a header. */
export const logRequest: MiddlewareHandler<AppEnv> = async (c, next) => {
  const startedAtMs = performance.now();
  await next();
  const line = {
    ...logFields(c),
    method: c.req.method,
    path: c.req.path,
    status: c.res.status,
    ms: Math.round(performance.now() - startedAtMs),
  };
  const { logger } = c.var.deps;
  if (c.req.path.startsWith('/v1/agent/') || quietPaths.has(c.req.path)) logger.debug(line, 'answered');
  else logger.info(line, 'answered');
};

const quietPaths = new Set(['/healthz', '/readyz']);
