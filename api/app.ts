// The API as one function from request to response. Its dependencies are parameters; it starts nothing and does not listen.
import { OpenAPIHono } from '@hono/zod-openapi';
import { secureHeaders } from 'hono/secure-headers';

import { mountAgents } from './agent-link/routes.ts';
import { mountSharedBuilds } from './agent-link/shared-builds.ts';
import { createBodyReader } from './large-bodies/reader.ts';
import { requireInstance, requireLaunch, requireToken, requireTokenStill } from './middleware/auth.ts';
import { answerError, validationProblem } from './middleware/errors.ts';
import { limitBody } from './middleware/limits.ts';
import { limitShape } from './middleware/shape.ts';
import { countRequest } from './middleware/metrics.ts';
import { createNotFound } from './middleware/not-found.ts';
import { identifyRequest, logRequest } from './middleware/request-id.ts';
import { apiDocument } from './openapi.ts';
import { traceRequest } from './middleware/tracing.ts';
import type { App, AppEnv } from './routes/app.ts';
import { mountApprovals } from './routes/approvals.ts';
import { mountBudgets } from './routes/budgets.ts';
import { mountClusters } from './routes/clusters.ts';
import { mountConfiguration } from './routes/configuration.ts';
import { mountFiles } from './routes/files.ts';
import { mountCosts } from './routes/costs.ts';
import { mountClouds } from './routes/clouds.ts';
import { mountHistory } from './routes/history.ts';
import { mountDashboard } from './routes/dashboard.ts';
import { mountEnvironments } from './routes/environments.ts';
import { mountJobs } from './routes/jobs.ts';
import { mountLogin } from './routes/login.ts';
import { mountLive } from './routes/live.ts';
import { mountMeta } from './routes/meta.ts';
import { mountMailSignIn } from './routes/mail-sign-in.ts';
import { linkScriptHash } from './routes/mail-link-page.ts';
import { mountInstanceTypes } from './routes/instance-types.ts';
import { mountPackageFiles } from './routes/package-files.ts';
import { mountPlans } from './routes/plans.ts';
import { mountPeople } from './routes/people.ts';
import { mountSchedules } from './routes/schedules.ts';
import { mountSignIn } from './routes/sign-in.ts';
import { mountWebhooks } from './routes/webhooks.ts';
import { mountWeb, mountWebHeaders } from './routes/web.ts';
import type { Deps } from '../services/context.ts';
import { linkPath } from '../services/login/mail.ts';

export function createApp(deps: Deps): App {
  const app: App = new OpenAPIHono<AppEnv>({
    defaultHook: (result) => {
      if (!result.success) throw validationProblem(result.error);
    },
  });
  // Before the general headers, so these override them.
  for (const path of ['/login', '/login/oidc/callback', '/login/mail', linkPath]) {
    const scripts = path === linkPath ? { scriptSrc: [linkScriptHash] } : {};
    const contentSecurityPolicy = { ...ownStyle, ...scripts, formAction: ["'self'"] };
    // With `no-referrer`, browsers send the form with the origin `null`.
    app.use(path, secureHeaders({ contentSecurityPolicy, referrerPolicy: 'same-origin' }));
  }
  if (deps.web !== null) mountWebHeaders(app);
  app.use(identifyRequest);
  app.use(async (c, next) => {
    c.set('deps', deps);
    await next();
  });
  app.use(countRequest, traceRequest, logRequest, secureHeaders({ contentSecurityPolicy: ownStyle }));
  for (const path of peoplesPaths) app.use(path, requireToken);
  app.use('/v1/agent/register', requireLaunch);
  for (const path of instancePaths) app.use(path, requireInstance);
  app.use(limitBody, limitShape(createBodyReader()), requireTokenStill);

  mountJobs(app);
  mountClusters(app);
  mountPackageFiles(app);
  mountFiles(app);
  mountEnvironments(app);
  mountDashboard(app);
  mountInstanceTypes(app);
  mountPlans(app);
  mountConfiguration(app);
  mountCosts(app);
  mountHistory(app);
  mountClouds(app);
  mountBudgets(app);
  mountApprovals(app);
  mountLive(app);
  mountPeople(app);
  mountLogin(app);
  mountSignIn(app);
  mountMailSignIn(app);
  mountAgents(app);
  mountSharedBuilds(app);
  mountSchedules(app);
  mountWebhooks(app);
  mountMeta(app, apiDocument);
  if (deps.web !== null) mountWeb(app, deps.web);
  app.notFound(createNotFound(app));
  app.onError((error, c) => answerError(error, c));
  return app;
}

/** Each includes all paths below it. */
const peoplesPaths = [
  ...[
    'jobs',
    'clusters',
    'package-files',
    'environments',
    'missing-package-files',
    'file-uploads',
    'file-downloads',
    'file-blobs',
    'filestores',
    'instance-types',
    'plans',
    'costs',
    'clouds',
    'cloud-checks',
    'budgets',
    'approvals',
    'live',
    'schedules',
    'webhooks',
    'webhook-deliveries',
    'notifications',
    'whoami',
    'tokens',
    'users',
    'workspace',
    'workspaces',
  ].map((name) => `/v1/${name}/*`),
  '/v1/login/device/approve',
];
const instancePaths = [
  'report',
  'exchange',
  'bundle',
  'package-files/*',
  'file-uploads',
  'file-downloads',
  'file-blobs/*',
  'task-files',
  'environment-builds/*',
  'environment-archives/*',
  'orders',
  'certificate',
].map((name) => `/v1/agent/${name}`);

/** No script, no frame, nothing from other origins: the reference page needs only its own style. */
const ownStyle = {
  styleSrc: ["'unsafe-inline'"],
  defaultSrc: ["'none'"],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
};
