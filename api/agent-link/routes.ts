// What agents call. They only ever dial out; the launch token registers an instance, its own token does the rest.
import { createRoute } from '@hono/zod-openapi';

import { contextOf, type App } from '../routes/app.ts';
import { instanceSecurity, json, jsonBody, launchSecurity, named, problems } from '../routes/schemas.ts';
import { readBundle } from '../services/agents/bundle.ts';
import { exchangeWork } from '../services/agents/exchange.ts';
import { registerAgent } from '../services/agents/register.ts';
import { reportAgent } from '../services/agents/report.ts';

const common = { tags: ['agent'] };

export const agentRoutes = {
  register: createRoute({
    ...common,
    security: launchSecurity,
    method: 'post',
    path: '/v1/agent/register',
    operationId: 'registerAgent',
    summary: 'An instance of a launch becomes known; repeating it with the same bootId gives a new token',
    request: { body: jsonBody(named.registerRequest) },
    responses: { 200: json(named.registerAnswer, 'Who the instance is, and its token.'), ...problems },
  }),
  report: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'post',
    path: '/v1/agent/report',
    operationId: 'reportAgent',
    summary: 'An instance lives, or leaves',
    request: { body: jsonBody(named.reportRequest) },
    responses: { 200: json(named.reportAnswer, 'Whether to end, and a renewed token when it is time.'), ...problems },
  }),
  exchange: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'post',
    path: '/v1/agent/exchange',
    operationId: 'exchangeWork',
    summary: 'Results for leases; safe to repeat',
    request: { body: jsonBody(named.exchangeRequest) },
    responses: { 200: json(named.exchangeAnswer, 'What to run, to drop and to forget.'), ...problems },
  }),
  bundle: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'get',
    path: '/v1/agent/bundle',
    operationId: 'readBundle',
    summary: "What the job's tasks run",
    responses: { 200: json(named.bundle, 'Command, environment and files.'), ...problems },
  }),
};

export function mountAgents(app: App): void {
  app.openapi(agentRoutes.register, async (c) =>
    c.json(await registerAgent(contextOf(c, c.var.launch), c.req.valid('json')), 200),
  );
  app.openapi(agentRoutes.report, async (c) =>
    c.json(await reportAgent(contextOf(c, c.var.instance), c.req.valid('json')), 200),
  );
  app.openapi(agentRoutes.exchange, async (c) =>
    c.json(await exchangeWork(contextOf(c, c.var.instance), c.req.valid('json')), 200),
  );
  // The sealed bytes are the answer, so this one is no openapi() handler, whose type asks for the parsed object.
  app.get(agentRoutes.bundle.getRoutingPath(), async (c) => {
    const bytes = await readBundle(contextOf(c, c.var.instance));
    return c.body(Uint8Array.from(bytes), 200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  });
}
