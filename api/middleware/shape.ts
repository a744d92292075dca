// Checks the shape of counted bodies before they are parsed.
import { setImmediate as pause } from 'node:timers/promises';

import type { Context, MiddlewareHandler } from 'hono';

import { RopewalkError } from '../../domain/errors.ts';
import { shapeOf } from '../../domain/requests/json-shape.ts';
import { countedBodyBytes, jsonPartBytes } from '../../domain/requests/limits.ts';
import type { BodyReader } from '../large-bodies/reader.ts';
import { receiveBody } from '../large-bodies/receive.ts';
import type { AppEnv } from '../routes/app.ts';
import { bodyBytes, cutOff, isStreamed } from './body-bytes.ts';
import { bodyCallerOf } from './limits.ts';

/** Runs after `limitBody`, which waits for memory. Small bodies are cheap with any content; jobs with large files are read in a thread. */
export const limitShape =
  (reader: BodyReader): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    const bytes = bodyBytes(c.req);
    const isLarge = bytes === 'unknown' || (bytes !== null && bytes > countedBodyBytes);
    if (isLarge && !isStreamed(c.req) && /[/+]json\b/i.test(c.req.header('content-type') ?? '')) {
      const isApart = bytes !== 'unknown' && bytes > apartBytes && c.req.method === 'POST' && c.req.path === '/v1/jobs';
      const { problem, parts } = isApart ? await readApart(c, reader) : shapeOf(await c.req.text().catch(cutOff));
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

async function readApart(c: Context<AppEnv>, reader: BodyReader): Promise<{ problem: string | null; parts: number }> {
  const { text, contents, ...shape } = await reader.read(await receiveBody(c).catch(cutOff));
  // The handler parses this text.
  Object.assign(c.req.bodyCache, { text: Promise.resolve(text) });
  c.set('largeContents', contents);
  return shape;
}

const apartBytes = 256 * 1024;
