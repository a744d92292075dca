// Sign-in by a link in an e-mail with a browser: the request for a link, the page that the link opens, and its confirmation. Opening the link uses
// nothing up, because mail scanners open links too.
import { createRoute } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';

import { RopewalkError } from '../../domain/errors.ts';
import * as schema from '../../schema/people.ts';
import { finishLink, linkPath, linkSeconds, requestLink } from '../../services/login/mail.ts';
import { callerAddress } from '../middleware/caller-address.ts';
import type { App, AppEnv } from './app.ts';
import { renderLogin, renderOutcome } from './login-page.ts';
import { renderLink, renderLinkChoice, renderRequested } from './mail-link-page.ts';
import { json, jsonBody, problems } from './schemas.ts';
import { askAboutDevice, loginOptions, refuse } from './sign-in.ts';

export const mailSignInRoutes = {
  request: createRoute({
    tags: ['people'],
    method: 'post',
    path: '/v1/login/mail',
    operationId: 'requestLink',
    summary:
      'Request a link in an e-mail that signs in, for the page that requests it; the answer is the same for every address',
    request: { body: jsonBody(schema.requestLink.openapi('RequestLink')) },
    responses: {
      202: json(schema.requestedLink.openapi('RequestedLink'), 'If a user has the address, a link is on its way.'),
      ...problems,
    },
  }),
};

export function mountMailSignIn(app: App): void {
  app.openapi(mailSignInRoutes.request, async (c) => {
    c.header('Cache-Control', 'no-store');
    const { address, challenge } = c.req.valid('json');
    const purpose = { kind: 'web', challenge } as const;
    const { sealed } = await requestLink(c.var.deps, { address, purpose, place: callerAddress(c) });
    setCookie(c, ...cookieOf(c, sealed));
    return c.json({ expiresInSeconds: linkSeconds }, 202);
  });
  // The page for devices has no script.
  app.post('/login/mail', async (c) => {
    c.header('Cache-Control', 'no-store');
    if (!isOwnForm(c)) return c.html(renderOutcome(foreignForm), 403);
    const field = await readForm(c);
    const code = field('code').slice(0, 20);
    try {
      const asked = { address: field('address'), purpose: { kind: 'device', userCode: code } as const };
      const { sealed } = await requestLink(c.var.deps, { ...asked, place: callerAddress(c) });
      setCookie(c, ...cookieOf(c, sealed));
      return c.html(renderRequested());
    } catch (error) {
      if (!(error instanceof RopewalkError) || error.problem.code !== 'VALIDATION') return refuse(c, error);
      return c.html(renderLogin({ code, problem: error.problem.message, ...loginOptions(c.var.deps) }), 400);
    }
  });
  app.get(linkPath, (c) => {
    c.header('Cache-Control', 'no-store');
    return c.html(renderLink());
  });
  app.post(linkPath, async (c) => {
    c.header('Cache-Control', 'no-store');
    if (!isOwnForm(c)) return c.html(renderOutcome(foreignForm), 403);
    const field = await readForm(c);
    try {
      const [name, , { path, secure }] = cookieOf(c, '');
      const link = field('link');
      const chosen = field('workspace');
      const { purpose, outcome } = await finishLink(c.var.deps, {
        ...{ sealed: getCookie(c, name) ?? '', link, workspace: chosen === '' ? null : chosen },
        place: callerAddress(c),
      });
      if ('choose' in outcome) return c.html(renderLinkChoice(link, outcome.choose));
      deleteCookie(c, name, { path, secure });
      if (purpose.kind === 'web') return c.redirect(`/signed-in#${outcome.handedOver}`, 303);
      return await askAboutDevice(c, purpose.userCode, outcome.token);
    } catch (error) {
      return refuse(c, error);
    }
  });
}

const foreignForm = 'This form came from elsewhere, and was not taken.';

const isOwnForm = (c: Context<AppEnv>): boolean => c.req.header('origin') === new URL(c.var.deps.publicUrl).origin;

async function readForm(c: Context<AppEnv>): Promise<(name: string) => string> {
  const form = await c.req.parseBody();
  return (name) => (typeof form[name] === 'string' ? form[name].trim() : '');
}

/** Strict: the browser sends it with the forms of our own pages only. */
function cookieOf(c: Context<AppEnv>, sealed: string) {
  const secure = c.var.deps.publicUrl.startsWith('https:');
  const name = secure ? '__Host-ropewalk_mail' : 'ropewalk_mail';
  const path = secure ? '/' : linkPath;
  return [name, sealed, { httpOnly: true, sameSite: 'Strict', path, secure, maxAge: linkSeconds }] as const;
}
