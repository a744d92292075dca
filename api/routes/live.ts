// Views for the web application: a line of JSON with the whole view, whenever it has changed.
import { createRoute } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { z } from 'zod';

import { listClustersQuery } from '../../schema/clusters.ts';
import { numberParam } from '../../schema/common.ts';
import { listJobsQuery } from '../../schema/jobs.ts';
import { getCluster } from '../../services/clusters/get.ts';
import { listClusters } from '../../services/clusters/list.ts';
import { getJob } from '../../services/jobs/get.ts';
import { listJobs } from '../../services/jobs/list.ts';
import { followView } from '../../services/live/follow.ts';
import { answerLines } from './answer-lines.ts';
import { contextOf, type App, type AppEnv } from './app.ts';
import { named, ndjson, problems, tokenSecurity } from './schemas.ts';

const common = { tags: ['live'], security: tokenSecurity, method: 'get' as const };
const follow = z.enum(['true', 'false']).default('false');
const followQuery = z.object({ follow });

export const liveRoutes = {
  clusters: createRoute({
    ...common,
    path: '/v1/live/clusters',
    operationId: 'followClusters',
    summary: 'Follow a page of clusters: sent again after each change',
    request: { query: listClustersQuery.extend({ follow }) },
    responses: { 200: ndjson(named.clusterPage, 'One ClusterPage per line.'), ...problems },
  }),
  cluster: createRoute({
    ...common,
    path: '/v1/live/clusters/{number}',
    operationId: 'followCluster',
    summary: 'Follow a cluster: sent again after each change, until it has ended',
    request: { params: numberParam, query: followQuery },
    responses: { 200: ndjson(named.cluster, 'One Cluster per line.'), ...problems },
  }),
  jobs: createRoute({
    ...common,
    path: '/v1/live/jobs',
    operationId: 'followJobs',
    summary: 'Follow a page of jobs: sent again after each change',
    request: { query: listJobsQuery.extend({ follow }) },
    responses: { 200: ndjson(named.jobPage, 'One JobPage per line.'), ...problems },
  }),
  job: createRoute({
    ...common,
    path: '/v1/live/jobs/{number}',
    operationId: 'followJob',
    summary: 'Follow a job: sent again after each change, until it has ended',
    request: { params: numberParam, query: followQuery },
    responses: { 200: ndjson(named.job, 'One Job per line.'), ...problems },
  }),
};

export function mountLive(app: App): void {
  app.openapi(liveRoutes.clusters, async (c) => {
    const { follow: isFollowed, ...query } = c.req.valid('query');
    return answerView(c, isFollowed, () => listClusters(contextOf(c, c.var.actor), query), never);
  });
  app.openapi(liveRoutes.jobs, async (c) => {
    const { follow: isFollowed, ...query } = c.req.valid('query');
    return answerView(c, isFollowed, () => listJobs(contextOf(c, c.var.actor), query), never);
  });
  app.openapi(liveRoutes.cluster, async (c) => {
    const read = () => getCluster(contextOf(c, c.var.actor), c.req.valid('param'));
    return answerView(c, c.req.valid('query').follow, read, hasEnded);
  });
  app.openapi(liveRoutes.job, async (c) => {
    const read = () => getJob(contextOf(c, c.var.actor), c.req.valid('param'));
    return answerView(c, c.req.valid('query').follow, read, hasEnded);
  });
}

const answerView = <V>(
  c: Context<AppEnv>,
  isFollowed: z.infer<typeof follow>,
  read: () => Promise<V>,
  ended: (view: V) => boolean,
): Promise<Response> =>
  answerLines(c, isFollowed, async (how) =>
    followView(c.var.deps, how, { first: await read(), read, hasEnded: ended }),
  );

const never = (): boolean => false;
const hasEnded = ({ endedAt }: { endedAt: string | null }): boolean => endedAt !== null;
