// Health, readiness and reference of the API.
import { createRoute } from '@hono/zod-openapi';

import type { App } from './app.ts';
import { type ApiDocument, renderDocs } from './docs-page.ts';
import { health, json, readiness } from './schemas.ts';

const common = { tags: ['meta'] };

export const metaRoutes = {
  healthz: createRoute({
    ...common,
    method: 'get',
    path: '/healthz',
    operationId: 'healthz',
    summary: 'Check that the process runs',
    responses: { 200: json(health, 'The process runs.') },
  }),
  readyz: createRoute({
    ...common,
    method: 'get',
    path: '/readyz',
    operationId: 'readyz',
    summary: 'Check that this replica can serve requests, part by part',
    responses: {
      200: json(
        readiness,
        'Ready. `degraded`: Temporal does not answer; creates and stops are accepted and carried out later, and reads may be stale.',
      ),
      503: json(readiness, 'Not ready: the database, the keys or the object store is unavailable.'),
    },
  }),
};

export function mountMeta(app: App, document: () => ApiDocument): void {
  let page: ReturnType<typeof renderDocs> | null = null;
  app.openapi(metaRoutes.healthz, (c) => c.json({ status: 'ok' } as const, 200));
  app.openapi(metaRoutes.readyz, async (c) => {
    const parts = await c.var.deps.readiness();
    const { temporal, ...needed } = parts;
    if (Object.values(needed).every((part) => part === 'ok')) {
      return c.json({ status: temporal === 'ok' ? 'ok' : 'degraded', parts } as const, 200);
    }
    c.header('Retry-After', '1');
    return c.json({ status: 'unavailable', parts } as const, 503);
  });
  app.get('/v1/openapi.json', (c) => c.json(document()));
  app.get('/docs', (c) => c.html((page ??= renderDocs(document()))));
}
