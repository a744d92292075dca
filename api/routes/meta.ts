// What is not about anybody's jobs: is the process up, does Temporal answer, what does this API look like.
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';

import type { App } from './app.ts';
import { renderDocs } from './docs-page.ts';
import { health, json, readiness } from './schemas.ts';

const common = { tags: ['meta'] };

export const metaRoutes = {
  healthz: createRoute({
    ...common,
    method: 'get',
    path: '/healthz',
    operationId: 'healthz',
    summary: 'The process is up',
    responses: { 200: json(health, 'It is.') },
  }),
  readyz: createRoute({
    ...common,
    method: 'get',
    path: '/readyz',
    operationId: 'readyz',
    summary: 'Temporal answers, the keys can be read, and the object store takes and gives',
    responses: {
      200: json(readiness, 'All is well.'),
      503: json(readiness, 'Which part is not; reading and ending things may still work.'),
    },
  }),
};

export type ApiDocument = ReturnType<OpenAPIHono['getOpenAPI31Document']>;

export function mountMeta(app: App, document: ApiDocument): void {
  const page = renderDocs(document);
  app.openapi(metaRoutes.healthz, (c) => c.json({ status: 'ok' } as const, 200));
  app.openapi(metaRoutes.readyz, async (c) => {
    const parts = await c.var.deps.readiness();
    if (Object.values(parts).every((part) => part === 'ok')) return c.json({ status: 'ok', parts } as const, 200);
    c.header('Retry-After', '1');
    return c.json({ status: 'unavailable', parts } as const, 503);
  });
  app.get('/v1/openapi.json', (c) => c.json(document));
  app.get('/docs', (c) => c.html(page));
}
