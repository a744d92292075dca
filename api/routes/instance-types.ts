// Available instance types over HTTP.
import { createRoute } from '@hono/zod-openapi';

import { instanceType, instanceTypeList, instanceTypesQuery } from '../../schema/instance-types.ts';
import { listInstanceTypes } from '../../services/instance-types.ts';
import { contextOf, type App } from './app.ts';
import { json, problems, tokenSecurity } from './schemas.ts';

instanceType.openapi('InstanceType');

export const instanceTypesRoute = createRoute({
  tags: ['clusters'],
  security: tokenSecurity,
  method: 'get',
  path: '/v1/instance-types',
  operationId: 'listInstanceTypes',
  summary: 'List instance types with prices, cheapest first',
  request: { query: instanceTypesQuery },
  responses: { 200: json(instanceTypeList.openapi('InstanceTypeList'), 'All that match.'), ...problems },
});

export function mountInstanceTypes(app: App): void {
  app.openapi(instanceTypesRoute, async (c) =>
    c.json(await listInstanceTypes(contextOf(c, c.var.actor), c.req.valid('query')), 200),
  );
}
