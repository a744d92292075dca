// Sign-in on a device over HTTP: for the device, for approving programs, and a page for people.
import { createRoute } from '@hono/zod-openapi';

import { RopewalkError } from '../../domain/errors.ts';
import * as schema from '../../schema/people.ts';
import { validationProblem } from '../middleware/errors.ts';
import { callerAddress } from '../middleware/caller-address.ts';
import { verifyToken } from '../../services/auth/verify-token.ts';
import { approveLogin, finishLogin, readLogin, startLogin } from '../../services/login/device.ts';
import { contextOf, type App } from './app.ts';
import { renderDecision, renderLogin, renderOutcome } from './login-page.ts';
import { createdToken } from './people.ts';
import { json, jsonBody, problems, tokenSecurity } from './schemas.ts';
import { loginOptions } from './sign-in.ts';

const common = { tags: ['people'] };

export const loginRoutes = {
  start: createRoute({
    ...common,
    method: 'post',
    path: '/v1/login/device',
    operationId: 'startLogin',
    summary: 'Start the sign-in of a device: display the user code, keep the device code secret',
    request: { body: jsonBody(schema.deviceLogin.openapi('DeviceLogin')) },
    responses: {
      200: json(schema.startedLogin.openapi('StartedLogin'), 'The user code and the device code.'),
      ...problems,
    },
  }),
  finish: createRoute({
    ...common,
    method: 'post',
    path: '/v1/login/device/token',
    operationId: 'finishLogin',
    summary: 'Get the token of a device sign-in; AUTHORIZATION_PENDING until a user approves',
    request: { body: jsonBody(schema.deviceToken.openapi('DeviceToken')) },
    responses: { 200: json(createdToken, 'The token; repeated requests return the same one.'), ...problems },
  }),
  approve: createRoute({
    ...common,
    security: tokenSecurity,
    method: 'post',
    path: '/v1/login/device/approve',
    operationId: 'approveLogin',
    summary: 'Approve or deny the sign-in of a device as the caller',
    request: { body: jsonBody(schema.approveLogin.openapi('ApproveLogin')) },
    responses: { 200: json(schema.approvedLogin.openapi('ApprovedLogin'), 'The decision.'), ...problems },
  }),
};

export function mountLogin(app: App): void {
  app.openapi(loginRoutes.start, async (c) => {
    c.header('Cache-Control', 'no-store');
    return c.json(await startLogin(c.var.deps, { ...c.req.valid('json'), address: callerAddress(c) }), 200);
  });
  app.openapi(loginRoutes.finish, async (c) => {
    c.header('Cache-Control', 'no-store');
    return c.json(await finishLogin(c.var.deps, c.req.valid('json')), 200);
  });
  app.openapi(loginRoutes.approve, async (c) =>
    c.json(await approveLogin(contextOf(c, c.var.actor), c.req.valid('json')), 200),
  );
  app.get('/login', (c) => {
    c.header('Cache-Control', 'no-store');
    return c.html(renderLogin({ code: c.req.query('code') ?? '', ...loginOptions(c.var.deps) }));
  });
  // A page of another origin must not submit this form, so only our own origin is accepted.
  app.post('/login', async (c) => {
    c.header('Cache-Control', 'no-store');
    const { deps } = c.var;
    if (c.req.header('origin') !== new URL(deps.publicUrl).origin) {
      return c.html(renderOutcome('This form came from elsewhere, and was not taken.'), 403);
    }
    const form = await c.req.parseBody();
    const field = (name: string): string => (typeof form[name] === 'string' ? form[name].trim() : '');
    try {
      const token = field('token');
      const actor = await verifyToken(deps, token);
      const context = contextOf(c, actor);
      const code = field('code');
      const decision = field('decision');
      if (decision === '') {
        const { user, workspace, scopes } = actor;
        return c.html(renderDecision({ code, token, user, workspace, scopes, ...(await readLogin(context, code)) }));
      }
      const asked = { userCode: code, approve: decision === 'approve' };
      const chosen = field('scopes') === '' ? {} : { scopes: field('scopes').split(' '), expires: field('expires') };
      const parsed = schema.approveLogin.safeParse({ ...asked, ...chosen });
      if (!parsed.success) throw validationProblem(parsed.error);
      const decided = await approveLogin(context, parsed.data);
      const text = decided.approved
        ? `The device is signed in as ${actor.user}, with ${decided.scopes.join(', ')}, until ${decided.expiresAt}. You can close this page.`
        : 'The sign-in was denied. You can close this page.';
      return c.html(renderOutcome(text));
    } catch (error) {
      if (!(error instanceof RopewalkError)) throw error;
      const shown = { code: field('code'), problem: error.problem.message };
      return c.html(renderLogin({ ...shown, ...loginOptions(deps) }), 400);
    }
  });
}
