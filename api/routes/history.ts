// Past states of clusters and jobs over HTTP.
import { createRoute } from '@hono/zod-openapi';

import { numberParam } from '../../schema/common.ts';
import { atQuery, clusterAt, jobAt } from '../../schema/history.ts';
import { getClusterAt } from '../../services/clusters/at.ts';
import { getJobAt } from '../../services/jobs/at.ts';
import { contextOf, type App } from './app.ts';
import { json, problems, tokenSecurity } from './schemas.ts';

const common = {
  security: tokenSecurity,
  method: 'get' as const,
  request: { params: numberParam, query: atQuery },
};

export const historyRoutes = {
  cluster: createRoute({
    ...common,
    tags: ['clusters'],
    path: '/v1/clusters/{number}/at',
    operationId: 'getClusterAt',
    summary: 'Get a cluster, open or ended, as of a past time',
    responses: { 200: json(clusterAt.openapi('ClusterAt'), 'The state at that time.'), ...problems },
  }),
  job: createRoute({
    ...common,
    tags: ['jobs'],
    path: '/v1/jobs/{number}/at',
    operationId: 'getJobAt',
    summary: 'Get a job, open or ended, as of a past time',
    responses: { 200: json(jobAt.openapi('JobAt'), 'Its tasks and instances at that time.'), ...problems },
  }),
};

export function mountHistory(app: App): void {
  app.openapi(historyRoutes.cluster, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('query') };
    return c.json(await getClusterAt(contextOf(c, c.var.actor), input), 200);
  });
  app.openapi(historyRoutes.job, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('query') };
    return c.json(await getJobAt(contextOf(c, c.var.actor), input), 200);
  });
}
