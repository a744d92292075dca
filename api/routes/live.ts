// Views for the web application: a line of JSON with the whole view, whenever it has changed.
import { createRoute } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { z } from 'zod';

import { listClustersQuery, type Cluster, type ClusterPage } from '../../schema/clusters.ts';
import { numberParam } from '../../schema/common.ts';
import { listJobsQuery, type Job, type JobPage } from '../../schema/jobs.ts';
import { getCluster } from '../../services/clusters/get.ts';
import { listClusters } from '../../services/clusters/list.ts';
import { getJob } from '../../services/jobs/get.ts';
import { listJobs } from '../../services/jobs/list.ts';
import { outsiderIn } from '../../services/auth/privacy.ts';
import { requireScope } from '../../services/auth/scopes.ts';
import type { Context as ServiceContext } from '../../services/context.ts';
import { followView } from '../../services/live/follow.ts';
import type { Shown } from '../../services/live/shared-reads.ts';
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
    const read: Read<ClusterPage> = (context) => listClusters(context, query);
    return answerView(c, isFollowed, { read, hasEnded: never, isPersonal: query.q !== undefined });
  });
  app.openapi(liveRoutes.jobs, async (c) => {
    const { follow: isFollowed, ...query } = c.req.valid('query');
    const read: Read<JobPage> = (context) => listJobs(context, query);
    return answerView(c, isFollowed, { read, hasEnded: never, isPersonal: query.q !== undefined });
  });
  app.openapi(liveRoutes.cluster, async (c) => {
    const read: Read<Cluster> = (context) => getCluster(context, c.req.valid('param'));
    return answerView(c, c.req.valid('query').follow, { read, hasEnded, isPersonal: false });
  });
  app.openapi(liveRoutes.job, async (c) => {
    const read: Read<Job> = (context) => getJob(context, c.req.valid('param'));
    return answerView(c, c.req.valid('query').follow, { read, hasEnded, isPersonal: false });
  });
}

type Read<V> = (context: ServiceContext) => Promise<V>;

interface Followed<V> {
  read: Read<V>;
  hasEnded: (view: V) => boolean;
  /** The answer depends on the caller by more than privacy. */
  isPersonal: boolean;
}

function answerView<V extends Shown>(
  c: Context<AppEnv>,
  isFollowed: z.infer<typeof follow>,
  { read, hasEnded: ended, isPersonal }: Followed<V>,
): Promise<Response> {
  const context = contextOf(c, c.var.actor);
  const { deps } = c.var;
  const { pathname, search } = new URL(c.req.url);
  const { workspace, userId } = context.actor;
  const shared = () =>
    deps.sharedReads.read({
      ...{ workspace, key: pathname + search, userId, isPersonal },
      readOwn: () => read(context),
      readPublic: () => read({ ...context, actor: outsiderIn(context.actor) }),
    });
  return answerLines(c, isFollowed, async (how) => {
    requireScope(context.actor, 'read');
    const first = await (how.follow ? shared() : read(context));
    return followView(deps, how, { first, read: shared, hasEnded: ended });
  });
}

const never = (): boolean => false;
const hasEnded = ({ endedAt }: { endedAt: string | null }): boolean => endedAt !== null;
