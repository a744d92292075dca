// Costs over HTTP.
import { createRoute } from '@hono/zod-openapi';

import { numberParam } from '../../schema/common.ts';
import { costOverTime, costs, costsQuery } from '../../schema/costs.ts';
import { readClusterCosts, readJobCosts } from '../../services/costs/over-time.ts';
import { readCosts } from '../../services/costs/read.ts';
import { contextOf, type App } from './app.ts';
import { json, problems, tokenSecurity } from './schemas.ts';

export const costsRoute = createRoute({
  tags: ['costs'],
  security: tokenSecurity,
  method: 'get',
  path: '/v1/costs',
  operationId: 'readCosts',
  summary: "Sum the cost of the workspace's instances by user, job, cluster, tag, day or instance type",
  request: { query: costsQuery },
  responses: { 200: json(costs.openapi('Costs'), 'Approximate: list prices, and spot prices at launch.'), ...problems },
});

const overTime = costOverTime.openapi('CostOverTime');
const ofOne = {
  tags: ['costs'],
  security: tokenSecurity,
  method: 'get' as const,
  request: { params: numberParam },
  responses: { 200: json(overTime, 'At equal distances of time, since its first instance.'), ...problems },
};

export const costOverTimeRoutes = {
  job: createRoute({
    ...ofOne,
    path: '/v1/jobs/{number}/costs',
    operationId: 'readJobCosts',
    summary: 'Get the cost of a job over time',
  }),
  cluster: createRoute({
    ...ofOne,
    path: '/v1/clusters/{number}/costs',
    operationId: 'readClusterCosts',
    summary: 'Get the cost of a cluster over time',
  }),
};

export function mountCosts(app: App): void {
  app.openapi(costsRoute, async (c) => c.json(await readCosts(contextOf(c, c.var.actor), c.req.valid('query')), 200));
  app.openapi(costOverTimeRoutes.job, async (c) =>
    c.json(await readJobCosts(contextOf(c, c.var.actor), c.req.valid('param')), 200),
  );
  app.openapi(costOverTimeRoutes.cluster, async (c) =>
    c.json(await readClusterCosts(contextOf(c, c.var.actor), c.req.valid('param')), 200),
  );
}
