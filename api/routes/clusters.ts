// Clusters over HTTP.
import { createRoute } from '@hono/zod-openapi';

import { numberParam, pageQuery } from '../../schema/common.ts';
import { getCluster } from '../services/clusters/get.ts';
import { listClusters } from '../services/clusters/list.ts';
import { stopCluster } from '../services/clusters/stop.ts';
import { contextOf, type App } from './app.ts';
import { json, named, problems, tokenSecurity } from './schemas.ts';

const common = { tags: ['clusters'], security: tokenSecurity };

export const clusterRoutes = {
  list: createRoute({
    ...common,
    method: 'get',
    path: '/v1/clusters',
    operationId: 'listClusters',
    summary: "List clusters, newest first, those of jobs included: they have their job's number",
    request: { query: pageQuery },
    responses: { 200: json(named.clusterPage, 'A page of clusters.'), ...problems },
  }),
  get: createRoute({
    ...common,
    method: 'get',
    path: '/v1/clusters/{number}',
    operationId: 'getCluster',
    summary: 'One cluster',
    request: { params: numberParam },
    responses: { 200: json(named.cluster, 'The cluster.'), ...problems },
  }),
  stop: createRoute({
    ...common,
    method: 'post',
    path: '/v1/clusters/{number}/stop',
    operationId: 'stopCluster',
    summary: 'Stop a cluster and all its instances',
    request: { params: numberParam },
    responses: { 202: json(named.cluster, 'The cluster, which is stopping or has stopped.'), ...problems },
  }),
};

export function mountClusters(app: App): void {
  app.openapi(clusterRoutes.list, async (c) =>
    c.json(await listClusters(contextOf(c, c.var.actor), c.req.valid('query')), 200),
  );
  app.openapi(clusterRoutes.get, async (c) =>
    c.json(await getCluster(contextOf(c, c.var.actor), c.req.valid('param')), 200),
  );
  app.openapi(clusterRoutes.stop, async (c) =>
    c.json(await stopCluster(contextOf(c, c.var.actor), c.req.valid('param')), 202),
  );
}
