// The requested settings of a cluster or job over HTTP.
import { createRoute } from '@hono/zod-openapi';

import { numberParam } from '../../schema/common.ts';
import { configuration } from '../../schema/configuration.ts';
import { readClusterConfiguration, readJobConfiguration } from '../../services/configuration.ts';
import { contextOf, type App } from './app.ts';
import { json, problems, tokenSecurity } from './schemas.ts';

const common = {
  security: tokenSecurity,
  method: 'get' as const,
  request: { params: numberParam },
  responses: {
    200: json(configuration.openapi('Configuration'), 'Instance types, limits and software, without secrets.'),
    ...problems,
  },
};

export const configurationRoutes = {
  cluster: createRoute({
    ...common,
    tags: ['clusters'],
    path: '/v1/clusters/{number}/configuration',
    operationId: 'readClusterConfiguration',
    summary: 'Get the configuration of a cluster: instance types, limits, software',
  }),
  job: createRoute({
    ...common,
    tags: ['jobs'],
    path: '/v1/jobs/{number}/configuration',
    operationId: 'readJobConfiguration',
    summary: 'Get the configuration of a job: instance types, limits, software',
  }),
};

export function mountConfiguration(app: App): void {
  app.openapi(configurationRoutes.cluster, async (c) =>
    c.json(await readClusterConfiguration(contextOf(c, c.var.actor), c.req.valid('param')), 200),
  );
  app.openapi(configurationRoutes.job, async (c) =>
    c.json(await readJobConfiguration(contextOf(c, c.var.actor), c.req.valid('param')), 200),
  );
}
