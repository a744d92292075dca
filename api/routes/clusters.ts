// Clusters over HTTP.
import { createRoute } from '@hono/zod-openapi';

import { clusterLogsQuery, listClustersQuery } from '../../schema/clusters.ts';
import { numberParam } from '../../schema/common.ts';
import { clusterEventsQuery } from '../../schema/events.ts';
import { adaptCluster } from '../../services/clusters/adapt.ts';
import { createCluster } from '../../services/clusters/create.ts';
import { issueCredentials } from '../../services/clusters/credentials.ts';
import { readEvents } from '../../services/clusters/events.ts';
import { getCluster } from '../../services/clusters/get.ts';
import { keepCluster } from '../../services/clusters/keepalive.ts';
import { listClusters } from '../../services/clusters/list.ts';
import { readClusterLogs } from '../../services/clusters/logs.ts';
import { scaleCluster } from '../../services/clusters/scale.ts';
import { stopCluster } from '../../services/clusters/stop.ts';
import { explainClusterNow } from '../../services/why.ts';
import { answerLines } from './answer-lines.ts';
import { contextOf, type App } from './app.ts';
import { idempotencyHeader, json, jsonBody, named, ndjson, problems, tokenSecurity } from './schemas.ts';

const common = { tags: ['clusters'], security: tokenSecurity };

export const clusterRoutes = {
  create: createRoute({
    ...common,
    method: 'post',
    path: '/v1/clusters',
    operationId: 'createCluster',
    summary: 'Start a Dask cluster',
    request: { headers: idempotencyHeader, body: jsonBody(named.createCluster) },
    responses: {
      200: json(named.createdCluster, 'An earlier cluster, found by Idempotency-Key or by its name.'),
      201: json(named.createdCluster, 'A new cluster.'),
      ...problems,
    },
  }),
  list: createRoute({
    ...common,
    method: 'get',
    path: '/v1/clusters',
    operationId: 'listClusters',
    summary: 'List clusters, newest first; clusters of jobs have the number of their job',
    request: { query: listClustersQuery },
    responses: { 200: json(named.clusterPage, 'A page of clusters.'), ...problems },
  }),
  get: createRoute({
    ...common,
    method: 'get',
    path: '/v1/clusters/{number}',
    operationId: 'getCluster',
    summary: 'Get a cluster',
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
  scale: createRoute({
    ...common,
    method: 'post',
    path: '/v1/clusters/{number}/scale',
    operationId: 'scaleCluster',
    summary: 'Set the number of workers; surplus workers are drained first',
    request: { params: numberParam, body: jsonBody(named.scaleCluster) },
    responses: { 202: json(named.cluster, 'The cluster, which is scaling.'), ...problems },
  }),
  adapt: createRoute({
    ...common,
    method: 'post',
    path: '/v1/clusters/{number}/adapt',
    operationId: 'adaptCluster',
    summary: 'Turn adaptive scaling on, between two numbers of workers, or off',
    request: { params: numberParam, body: jsonBody(named.adaptCluster) },
    responses: { 202: json(named.cluster, 'The cluster.'), ...problems },
  }),
  keepalive: createRoute({
    ...common,
    method: 'post',
    path: '/v1/clusters/{number}/keepalive',
    operationId: 'keepCluster',
    summary: 'Report a connected client, and set the timeout after its last report',
    request: { params: numberParam, body: jsonBody(named.keepaliveCluster) },
    responses: { 202: json(named.cluster, 'The cluster.'), ...problems },
  }),
  credentials: createRoute({
    ...common,
    method: 'get',
    path: '/v1/clusters/{number}/credentials',
    operationId: 'issueCredentials',
    summary: 'Create a client certificate and key for a Dask cluster; needs the scope write',
    request: { params: numberParam },
    responses: { 200: json(named.credentials, 'Address, authority, certificate and key.'), ...problems },
  }),
  logs: createRoute({
    ...common,
    method: 'get',
    path: '/v1/clusters/{number}/logs',
    operationId: 'readClusterLogs',
    summary: "Read the log lines of a cluster's processes, as NDJSON",
    request: { params: numberParam, query: clusterLogsQuery },
    responses: { 200: ndjson(named.logLine, 'One LogLine per line.'), ...problems },
  }),
  events: createRoute({
    ...common,
    method: 'get',
    path: '/v1/clusters/{number}/events',
    operationId: 'readClusterEvents',
    summary: 'Read the events of a cluster, as NDJSON: all, or a page by their numbers',
    request: { params: numberParam, query: clusterEventsQuery },
    responses: { 200: ndjson(named.clusterEvent, 'One ClusterEvent per line.'), ...problems },
  }),
  why: createRoute({
    ...common,
    method: 'get',
    path: '/v1/clusters/{number}/why',
    operationId: 'explainCluster',
    summary: 'Explain why a cluster runs or waits, is not larger, has its instance types, and has stopped',
    request: { params: numberParam },
    responses: { 200: json(named.why, 'Sentences, each with the facts that support it.'), ...problems },
  }),
};

export function mountClusters(app: App): void {
  app.openapi(clusterRoutes.create, async (c) => {
    const idempotencyKey = c.req.valid('header')['idempotency-key'];
    const created = await createCluster(contextOf(c, c.var.actor), { body: c.req.valid('json'), idempotencyKey });
    c.header('Location', `/v1/clusters/${created.number}`);
    return c.json(created, created.existing ? 200 : 201);
  });
  app.openapi(clusterRoutes.list, async (c) =>
    c.json(await listClusters(contextOf(c, c.var.actor), c.req.valid('query')), 200),
  );
  app.openapi(clusterRoutes.get, async (c) =>
    c.json(await getCluster(contextOf(c, c.var.actor), c.req.valid('param')), 200),
  );
  app.openapi(clusterRoutes.stop, async (c) =>
    c.json(await stopCluster(contextOf(c, c.var.actor), c.req.valid('param')), 202),
  );
  app.openapi(clusterRoutes.scale, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('json') };
    return c.json(await scaleCluster(contextOf(c, c.var.actor), input), 202);
  });
  app.openapi(clusterRoutes.adapt, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('json') };
    return c.json(await adaptCluster(contextOf(c, c.var.actor), input), 202);
  });
  app.openapi(clusterRoutes.keepalive, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('json') };
    return c.json(await keepCluster(contextOf(c, c.var.actor), input), 202);
  });
  app.openapi(clusterRoutes.credentials, async (c) => {
    const issued = await issueCredentials(contextOf(c, c.var.actor), c.req.valid('param'));
    c.header('Cache-Control', 'no-store');
    return c.json(issued, 200);
  });
  app.openapi(clusterRoutes.logs, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('query') };
    return answerLines(c, input.follow, (how) => readClusterLogs(contextOf(c, c.var.actor), { ...input, ...how }));
  });
  app.openapi(clusterRoutes.events, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('query') };
    return answerLines(c, input.follow, (how) => readEvents(contextOf(c, c.var.actor), { ...input, ...how }));
  });
  app.openapi(clusterRoutes.why, async (c) =>
    c.json(await explainClusterNow(contextOf(c, c.var.actor), c.req.valid('param')), 200),
  );
}
