// What was spent, over HTTP.
import { createRoute } from '@hono/zod-openapi';

import { costs, costsQuery } from '../../schema/costs.ts';
import { readCosts } from '../../services/costs/read.ts';
import { contextOf, type App } from './app.ts';
import { json, problems, tokenSecurity } from './schemas.ts';

export const costsRoute = createRoute({
  tags: ['costs'],
  security: tokenSecurity,
  method: 'get',
  path: '/v1/costs',
  operationId: 'readCosts',
  summary: 'What the instances of the workspace have cost, by user, job, cluster, day or type',
  request: { query: costsQuery },
  responses: { 200: json(costs.openapi('Costs'), 'Approximate: list prices, and spot prices at launch.'), ...problems },
});

export function mountCosts(app: App): void {
  app.openapi(costsRoute, async (c) => c.json(await readCosts(contextOf(c, c.var.actor), c.req.valid('query')), 200));
}
