// Links to a cluster's dashboard and Jupyter server over HTTP. api/relay serves both.
import { createRoute } from '@hono/zod-openapi';

import { dashboardLink } from '../../schema/clusters.ts';
import { numberParam } from '../../schema/common.ts';
import { linkDashboard } from '../../services/clusters/dashboard-link.ts';
import { linkJupyter } from '../../services/clusters/jupyter.ts';
import { contextOf, type App } from './app.ts';
import { json, problems, tokenSecurity } from './schemas.ts';

const link = dashboardLink.openapi('DashboardLink');

export const dashboardRoutes = {
  link: createRoute({
    tags: ['clusters'],
    security: tokenSecurity,
    method: 'post',
    path: '/v1/clusters/{number}/dashboard-link',
    operationId: 'linkDashboard',
    summary: "Create a link that opens the cluster's Dask dashboard in a browser; valid for five minutes",
    request: { params: numberParam },
    responses: { 200: json(link, 'The link. Anyone who has the link can open the dashboard.'), ...problems },
  }),
  jupyter: createRoute({
    tags: ['clusters'],
    security: tokenSecurity,
    method: 'post',
    path: '/v1/clusters/{number}/jupyter-link',
    operationId: 'linkJupyter',
    summary:
      "A link that opens the cluster's Jupyter server in a browser; good for five minutes. Needs the scope write",
    request: { params: numberParam },
    responses: { 200: json(link, 'The link. Anyone who has the link can run code on the cluster.'), ...problems },
  }),
};

export function mountDashboard(app: App): void {
  app.openapi(dashboardRoutes.jupyter, async (c) =>
    c.json(await linkJupyter(contextOf(c, c.var.actor), c.req.valid('param')), 200),
  );
  app.openapi(dashboardRoutes.link, async (c) =>
    c.json(await linkDashboard(contextOf(c, c.var.actor), c.req.valid('param')), 200),
  );
}
