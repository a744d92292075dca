// Planned machines and costs over HTTP.
import { createRoute } from '@hono/zod-openapi';

import { plan, plannedRole, planPrice } from '../../schema/plans.ts';
import { planCluster, planJob } from '../../services/plan.ts';
import { contextOf, type App } from './app.ts';
import { json, jsonBody, named, problems, tokenSecurity } from './schemas.ts';

plannedRole.openapi('PlannedRole');
planPrice.openapi('PlanPrice');

const responses = { 200: json(plan.openapi('Plan'), 'Machines, zones and prices.'), ...problems };

export const planRoutes = {
  cluster: createRoute({
    tags: ['clusters'],
    security: tokenSecurity,
    method: 'post',
    path: '/v1/plans/clusters',
    operationId: 'planCluster',
    summary: 'Plan a Dask cluster: instance types, zones and price, without a launch; needs the scope write',
    request: { body: jsonBody(named.createCluster) },
    responses,
  }),
  job: createRoute({
    tags: ['jobs'],
    security: tokenSecurity,
    method: 'post',
    path: '/v1/plans/jobs',
    operationId: 'planJob',
    summary: 'Plan a job: instance types, zones and price, without a launch; needs the scope write',
    request: { body: jsonBody(named.createJob) },
    responses,
  }),
};

export function mountPlans(app: App): void {
  app.openapi(planRoutes.cluster, async (c) =>
    c.json(await planCluster(contextOf(c, c.var.actor), c.req.valid('json')), 200),
  );
  app.openapi(planRoutes.job, async (c) => c.json(await planJob(contextOf(c, c.var.actor), c.req.valid('json')), 200));
}
