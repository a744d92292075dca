// Clouds and their health over HTTP, for admins.
import { createRoute } from '@hono/zod-openapi';

import { checkCloud as checkInput, cloud, cloudList } from '../../schema/clouds.ts';
import { checkCloud, listClouds } from '../../services/clouds/clouds.ts';
import { contextOf, type App } from './app.ts';
import { json, jsonBody, problems, tokenSecurity } from './schemas.ts';

const common = { tags: ['clouds'], security: tokenSecurity };

export const cloudRoutes = {
  list: createRoute({
    ...common,
    method: 'get',
    path: '/v1/clouds',
    operationId: 'listClouds',
    summary: "List the clouds of this control plane, with the workspace's accounts and the results of the last checks",
    responses: { 200: json(cloudList.openapi('CloudList'), 'The clouds, the default one first.'), ...problems },
  }),
  check: createRoute({
    ...common,
    method: 'post',
    path: '/v1/cloud-checks',
    operationId: 'checkCloud',
    summary: 'Check a cloud now: credentials, a launch as a dry run, the address at which instances reach the API',
    request: { body: jsonBody(checkInput.openapi('CheckCloud')) },
    responses: { 200: json(cloud.openapi('Cloud'), 'The cloud, with the results of its checks.'), ...problems },
  }),
};

export function mountClouds(app: App): void {
  app.openapi(cloudRoutes.list, async (c) => c.json(await listClouds(contextOf(c, c.var.actor)), 200));
  app.openapi(cloudRoutes.check, async (c) =>
    c.json(await checkCloud(contextOf(c, c.var.actor), c.req.valid('json')), 200),
  );
}
