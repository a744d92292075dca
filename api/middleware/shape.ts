// Checks the shape of counted bodies before they are parsed.
import { setImmediate as pause } from 'node:timers/promises';

import type { MiddlewareHandler } from 'hono';

import { RopewalkError } from '../../domain/errors.ts';
import { shapeOf } from '../../domain/requests/json-shape.ts';
import { countedBodyBytes, jsonPartBytes } from '../../domain/requests/limits.ts';
import type { AppEnv } from '../routes/app.ts';
import { bodyBytes, isStreamed } from './body-bytes.ts';
import { bodyCallerOf } from './limits.ts';

/** Runs after `limitBody`, which waits for memory. Small bodies are cheap with any content. */
export const limitShape: MiddlewareHandler<AppEnv> = async (c, next) => {
  const bytes = bodyBytes(c.req);
  const isLarge = bytes === 'unknown' || (bytes !== null && bytes > countedBodyBytes);
  if (isLarge && !isStreamed(c.req) && /[/+]json\b/i.test(c.req.header('content-type') ?? '')) {
    const { problem, parts } = shapeOf(await c.req.text());
    const caller = bodyCallerOf(c);
    if (problem === null && caller !== null) c.var.deps.quotas.body(caller, parts * jsonPartBytes);
    if (problem !== null) {
      throw new RopewalkError({
        code: 'VALIDATION',
        message: `The request body ${problem}.`,
        hint: 'Put large inputs into files or a bucket, and send their names.',
      });
    }
    // To parse and check it takes a while too.
    await pause();
  }
  await next();
};
