// The web application: one page for all addresses, its script and its style. No cookies, no external resources.
import { gzipSync } from 'node:zlib';

import type { Context, MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { secureHeaders } from 'hono/secure-headers';
import { z } from 'zod';

import type { App, AppEnv } from './app.ts';

/** The format that web/build.ts writes. */
export const webBundle = z.object({ version: z.string(), html: z.string(), js: z.string(), css: z.string() });
export type WebBundle = z.infer<typeof webBundle>;

const pages = [
  '/',
  '/signed-in',
  '/clusters',
  '/clusters/:number{[0-9]+}',
  '/clusters/:number{[0-9]+}/dashboard',
  '/jobs',
  '/jobs/:number{[0-9]+}',
  '/schedules',
  '/schedules/:name{[a-zA-Z0-9][a-zA-Z0-9._-]*}',
  '/spend',
  '/approvals',
  '/notifications',
  '/workspace',
  '/clouds',
];

/** Only its own files run, and only the API is requested. Scripts set styles of elements, which no directive forbids. */
const webHeaders: MiddlewareHandler<AppEnv> = secureHeaders({
  contentSecurityPolicy: {
    ...{ defaultSrc: ["'none'"], scriptSrc: ["'self'"], styleSrc: ["'self'"], connectSrc: ["'self'"] },
    ...{ imgSrc: ["'self'", 'data:'], frameAncestors: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"] },
  },
});

/** Before the general headers, so these override them. */
export function mountWebHeaders(app: App): void {
  for (const path of pages) app.use(path, webHeaders);
  // Only responses without secrets, because the size of a compressed response reveals repetitions.
  app.use('/assets/*', compress());
  app.use('/v1/jobs/:number/task-states', compress());
  app.use(async (c, next) => {
    await next();
    if (c.get('isNoSuchPage') === true) await webHeaders(c, async () => undefined);
  });
}

/** The application itself reports the unknown page. */
export function answerNoSuchPage(c: Context<AppEnv>, bundle: WebBundle): Response {
  c.set('isNoSuchPage', true);
  c.header('Cache-Control', 'no-cache');
  c.header('Vary', 'Accept');
  return c.newResponse(bundle.html, 404, { 'Content-Type': 'text/html; charset=utf-8' });
}

export function mountWeb(app: App, bundle: WebBundle): void {
  for (const path of pages) {
    app.get(path, (c) => {
      c.header('Cache-Control', 'no-cache');
      return c.html(bundle.html);
    });
  }
  const asset = (ending: 'js' | 'css', type: string): void => {
    const plain = Buffer.from(bundle[ending]);
    // Once, not for each who asks: no token is needed.
    const compressed = gzipSync(plain, { level: 9 });
    app.get(`/assets/${bundle.version}.${ending}`, (c) => {
      c.header('Content-Type', type);
      // The name follows from the content.
      c.header('Cache-Control', 'public, max-age=31536000, immutable');
      c.header('Vary', 'Accept-Encoding');
      if (!takesGzip(c.req.header('Accept-Encoding') ?? '')) return c.body(plain);
      c.header('Content-Encoding', 'gzip');
      return c.body(compressed);
    });
  };
  asset('js', 'text/javascript; charset=utf-8');
  asset('css', 'text/css; charset=utf-8');
}

const takesGzip = (accepted: string): boolean =>
  accepted.split(',').some((each) => {
    const [name = '', quality = '1'] = each
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q=/);
    return name === 'gzip' && Number(quality) > 0;
  });
