// Builds the OpenAPI document from the route objects that the app serves. It needs no dependency and no request.
import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi';

import { agentRoutes } from './agent-link/routes.ts';
import { sharedBuildRoutes } from './agent-link/shared-builds.ts';
import { clusterRoutes } from './routes/clusters.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { budgetRoutes } from './routes/budgets.ts';
import { configurationRoutes } from './routes/configuration.ts';
import { costOverTimeRoutes, costsRoute } from './routes/costs.ts';
import { cloudRoutes } from './routes/clouds.ts';
import { historyRoutes } from './routes/history.ts';
import { dashboardRoutes } from './routes/dashboard.ts';
import { fileRoutes } from './routes/files.ts';
import { environmentRoutes } from './routes/environments.ts';
import { scheduleRoutes } from './routes/schedules.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { instanceTypesRoute } from './routes/instance-types.ts';
import { jobRoutes } from './routes/jobs.ts';
import { loginRoutes } from './routes/login.ts';
import { liveRoutes } from './routes/live.ts';
import { mailSignInRoutes } from './routes/mail-sign-in.ts';
import { metaRoutes } from './routes/meta.ts';
import type { ApiDocument } from './routes/docs-page.ts';
import { packageFileRoutes } from './routes/package-files.ts';
import { planRoutes } from './routes/plans.ts';
import { peopleRoutes } from './routes/people.ts';
import { signInRoutes } from './routes/sign-in.ts';

let built: ApiDocument | null = null;

/** Built once per process, on first use, because it would double the API's start-up time. */
export const apiDocument = (): ApiDocument => (built ??= buildDocument());

function buildDocument(): ApiDocument {
  const { openAPIRegistry, getOpenAPI31Document } = new OpenAPIHono();
  for (const routes of [
    jobRoutes,
    clusterRoutes,
    { instanceTypesRoute },
    planRoutes,
    configurationRoutes,
    { costsRoute, ...costOverTimeRoutes },
    historyRoutes,
    cloudRoutes,
    budgetRoutes,
    approvalRoutes,
    liveRoutes,
    packageFileRoutes,
    fileRoutes,
    environmentRoutes,
    scheduleRoutes,
    webhookRoutes,
    dashboardRoutes,
    peopleRoutes,
    loginRoutes,
    signInRoutes,
    mailSignInRoutes,
    agentRoutes,
    sharedBuildRoutes,
    metaRoutes,
  ]) {
    for (const route of Object.values(routes)) openAPIRegistry.registerPath(withBodyAsTaken(route));
  }
  const bearer = (name: string, description: string, bearerFormat: string) =>
    openAPIRegistry.registerComponent('securitySchemes', name, {
      type: 'http',
      scheme: 'bearer',
      bearerFormat,
      description,
    });
  bearer('token', 'An API token of a workspace.', 'rw_{workspace}_{id}-{secret}');
  bearer('launchToken', 'The launch token of an instance.', 'JWT');
  bearer('instanceToken', 'The token that an instance receives when it registers.', 'JWT');
  return getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Ropewalk',
      version: '1',
      description:
        'Batch jobs and Dask clusters. Times are RFC 3339. Lists are pages: pass `next` as `after`. Every error has the one error body; 429 and 503 carry Retry-After. Every answer carries X-Request-Id.',
    },
    tags: [
      { name: 'jobs', description: 'Submitted batches and their tasks.' },
      { name: 'clusters', description: 'Dask clusters, and the instances of jobs.' },
      { name: 'costs', description: 'Costs and budgets.' },
      { name: 'clouds', description: 'Cloud accounts and their checks.' },
      { name: 'live', description: 'Streams of changing jobs, clusters and lists.' },
      { name: 'software', description: 'Environments and package files.' },
      { name: 'webhooks', description: 'Notifications, webhooks and deliveries.' },
      { name: 'files', description: 'Input and output files of jobs.' },
      { name: 'people', description: 'Tokens, users, limits, workspaces, and signing in.' },
      { name: 'agent', description: 'For the agents on instances, not for people.' },
      { name: 'meta', description: 'The API itself.' },
    ],
  });
}

/** A request without a body is treated as `{}`, so a body is required only where `{}` does not suffice. */
function withBodyAsTaken(route: RouteConfig): RouteConfig {
  const content = route.request?.body?.content['application/json'];
  const schema = content !== undefined && 'schema' in content ? content.schema : undefined;
  if (schema === undefined || !('safeParse' in schema) || !schema.safeParse({}).success) return route;
  return { ...route, request: { ...route.request, body: { content: {}, ...route.request?.body, required: false } } };
}
