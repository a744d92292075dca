// Sign-in at an identity provider with a browser: the redirect there, the return, and then the web application or the decision about a device.
import { createRoute } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';

import { RopewalkError, errorCodes } from '../../domain/errors.ts';
import * as schema from '../../schema/people.ts';
import { verifyToken } from '../../services/auth/verify-token.ts';
import type { Deps } from '../../services/context.ts';
import { readLogin } from '../../services/login/device.ts';
import {
  beginSignIn,
  finishSignIn,
  loginMethods,
  signInPath,
  takeSignIn,
  type SignInPurpose,
} from '../../services/login/sign-in.ts';
import { callerAddress } from '../middleware/caller-address.ts';
import { contextOf, type App, type AppEnv } from './app.ts';
import { renderChoice, renderDecision, renderLogin, renderOutcome } from './login-page.ts';
import { createdToken } from './people.ts';
import { json, jsonBody, problems } from './schemas.ts';

const common = { tags: ['people'] };

export const signInRoutes = {
  methods: createRoute({
    ...common,
    method: 'get',
    path: '/v1/login/methods',
    operationId: 'getLoginMethods',
    summary: 'List the methods of sign-in besides an API token',
    responses: { 200: json(schema.loginMethods.openapi('LoginMethods'), 'The configured methods.'), ...problems },
  }),
  take: createRoute({
    ...common,
    method: 'post',
    path: '/v1/login/oidc/token',
    operationId: 'takeSignIn',
    summary: 'Get the token of a sign-in at the identity provider or by a link, for the page that started it',
    request: { body: jsonBody(schema.takeSignIn.openapi('TakeSignIn')) },
    responses: {
      200: json(createdToken, 'The token; repeated requests within a minute return the same one.'),
      ...problems,
    },
  }),
};

export function mountSignIn(app: App): void {
  app.openapi(signInRoutes.methods, (c) => c.json(loginMethods(c.var.deps), 200));
  app.openapi(signInRoutes.take, async (c) => {
    c.header('Cache-Control', 'no-store');
    return c.json(await takeSignIn(c.var.deps, c.req.valid('json')), 200);
  });
  app.get(signInPath, async (c) => {
    c.header('Cache-Control', 'no-store');
    try {
      const workspace = c.req.query('workspace') ?? null;
      const { url, sealed } = await beginSignIn(c.var.deps, { purpose: purposeOf(c), workspace });
      setCookie(c, ...cookieOf(c, sealed));
      return c.redirect(url.href, 302);
    } catch (error) {
      return refuse(c, error);
    }
  });
  app.get(`${signInPath}/callback`, async (c) => {
    c.header('Cache-Control', 'no-store');
    try {
      const { search: query } = new URL(c.req.url);
      const [name, , { path }] = cookieOf(c, '');
      const sealed = getCookie(c, name) ?? '';
      deleteCookie(c, name, { path, secure: isSecure(c) });
      const { purpose, outcome } = await finishSignIn(c.var.deps, { sealed, query, address: callerAddress(c) });
      if ('choose' in outcome) {
        const choices = outcome.choose.map((choice) => ({ ...choice, href: linkTo(purpose, choice.workspace) }));
        return c.html(renderChoice(choices));
      }
      // Browsers never send a fragment to a server.
      if (purpose.kind === 'web') return c.redirect(`/signed-in#${outcome.handedOver}`, 302);
      return await askAboutDevice(c, purpose.userCode, outcome.token);
    } catch (error) {
      return refuse(c, error);
    }
  });
}

export async function askAboutDevice(c: Context<AppEnv>, code: string, token: string): Promise<Response> {
  const actor = await verifyToken(c.var.deps, token);
  const { user, workspace, scopes } = actor;
  try {
    const login = await readLogin(contextOf(c, actor), code);
    return c.html(renderDecision({ code, token, user, workspace, scopes, ...login }));
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    // Opened without a code, which the person types now.
    const problem = code === '' ? {} : { problem: error.problem.message };
    return c.html(renderLogin({ code, token, provider: null, mail: false, ...problem }));
  }
}

function purposeOf(c: Context<AppEnv>): SignInPurpose {
  const challenge = c.req.query('challenge');
  if (challenge === undefined) return { kind: 'device', userCode: (c.req.query('code') ?? '').slice(0, 20) };
  if (/^[A-Za-z0-9_-]{43}$/.test(challenge)) return { kind: 'web', challenge };
  throw new RopewalkError({ code: 'VALIDATION', field: 'challenge', message: 'challenge: 32 bytes in base64url.' });
}

const linkTo = (purpose: SignInPurpose, workspace: string): string =>
  `${signInPath}?${new URLSearchParams({
    ...(purpose.kind === 'web' ? { challenge: purpose.challenge } : { code: purpose.userCode }),
    workspace,
  }).toString()}`;

/** Lax, because the provider returns the browser by a link. `__Host-` prevents neighbouring hosts from setting it. */
function cookieOf(c: Context<AppEnv>, sealed: string) {
  const secure = isSecure(c);
  const name = secure ? '__Host-ropewalk_sign_in' : 'ropewalk_sign_in';
  const path = secure ? '/' : signInPath;
  return [name, sealed, { httpOnly: true, sameSite: 'Lax', path, secure, maxAge: 600 }] as const;
}

const isSecure = (c: Context<AppEnv>): boolean => c.var.deps.publicUrl.startsWith('https:');

/** The ways to sign in on the page for devices, besides a token. */
export const loginOptions = ({ signIn, mailSignIn }: Pick<Deps, 'signIn' | 'mailSignIn'>) => ({
  provider: signIn?.name ?? null,
  mail: mailSignIn !== null,
});

export function refuse(c: Context<AppEnv>, error: unknown): Response | Promise<Response> {
  if (!(error instanceof RopewalkError)) throw error;
  const { code, message, hint = '' } = error.problem;
  const { status } = errorCodes[code];
  const log = { code, why: error.cause instanceof Error ? error.cause.message : undefined };
  c.var.deps.logger.warn(log, 'a sign-in was refused');
  return c.html(renderOutcome(`${message} ${hint}`, { title: 'Not signed in', back: '/' }), status);
}
