// Named environments over HTTP.
import { createRoute } from '@hono/zod-openapi';

import { pageQuery } from '../../schema/common.ts';
import { environmentParams } from '../../schema/environments.ts';
import {
  deleteEnvironment,
  getEnvironment,
  listEnvironments,
  setEnvironment,
} from '../../services/environments/environments.ts';
import { contextOf, type App } from './app.ts';
import { json, jsonBody, named, problems, tokenSecurity } from './schemas.ts';

const common = { tags: ['software'], security: tokenSecurity };

export const environmentRoutes = {
  list: createRoute({
    ...common,
    method: 'get',
    path: '/v1/environments',
    operationId: 'listEnvironments',
    summary: 'List named environments, by name',
    request: { query: pageQuery },
    responses: { 200: json(named.environmentPage, 'A page of environments.'), ...problems },
  }),
  set: createRoute({
    ...common,
    method: 'put',
    path: '/v1/environments/{environment}',
    operationId: 'setEnvironment',
    summary:
      'Create a named environment, or change its content; existing clusters and jobs keep the content that they started with',
    request: { params: environmentParams, body: jsonBody(named.putEnvironment) },
    responses: { 200: json(named.namedEnvironment, 'The environment.'), ...problems },
  }),
  get: createRoute({
    ...common,
    method: 'get',
    path: '/v1/environments/{environment}',
    operationId: 'getEnvironment',
    summary: 'Get a named environment',
    request: { params: environmentParams },
    responses: { 200: json(named.environmentDetails, 'The environment.'), ...problems },
  }),
  delete: createRoute({
    ...common,
    method: 'delete',
    path: '/v1/environments/{environment}',
    operationId: 'deleteEnvironment',
    summary: 'Delete a named environment; clusters and jobs that use it are not affected',
    request: { params: environmentParams },
    responses: { 200: json(named.namedEnvironment, 'The deleted environment.'), ...problems },
  }),
};

export function mountEnvironments(app: App): void {
  app.openapi(environmentRoutes.list, async (c) =>
    c.json(await listEnvironments(contextOf(c, c.var.actor), c.req.valid('query')), 200),
  );
  app.openapi(environmentRoutes.set, async (c) => {
    const { environment: name } = c.req.valid('param');
    return c.json(await setEnvironment(contextOf(c, c.var.actor), { name, body: c.req.valid('json') }), 200);
  });
  app.openapi(environmentRoutes.get, async (c) =>
    c.json(await getEnvironment(contextOf(c, c.var.actor), c.req.valid('param').environment), 200),
  );
  app.openapi(environmentRoutes.delete, async (c) =>
    c.json(await deleteEnvironment(contextOf(c, c.var.actor), c.req.valid('param').environment), 200),
  );
}
