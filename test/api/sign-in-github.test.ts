// Signing in with GitHub, without a broker: the web flow and the verified primary address, at a stand-in on loopback.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import { createGithubProvider } from '../../platform/github-sign-in.ts';
import { createSecret } from '../../platform/secret.ts';
import { startGithubServer, type GithubServer } from '../support/github-server.ts';
import { eventually } from '../support/eventually.ts';
import { addUser, admin, newBrowser, origin, refusalOf, sessionOf, signIn } from './sign-in-support.ts';
import { createTestApi } from './support.ts';

const redirectUrl = `${origin}/login/oidc/callback`;
const web = { version: '1', html: '<html></html>', js: '', css: '' };
let github: GithubServer;
beforeAll(async () => {
  github = await startGithubServer(redirectUrl);
});
afterAll(() => github?.close());
beforeEach(() => {
  github.broken = null;
  github.isDeclined = false;
  github.account = {
    id: 583_231,
    emails: [
      { email: 'private@elsewhere.example', primary: false, verified: true },
      { email: 'Ann@Example.com', primary: true, verified: true },
    ],
  };
});

async function createApi(secret = github.clientSecret) {
  const { issuer, clientId } = github;
  const provider = createGithubProvider({ issuer, clientId, clientSecret: createSecret(secret), redirectUrl });
  const own = { name: 'GitHub', provider, domains: null, newPeople: null, sessionMs: 3_600_000 };
  const api = await createTestApi({ web, signIn: own });
  await addUser(api, 'ann@example.com');
  return api;
}

it('signs in the user of the verified primary address, knows them by the number of the account, and keeps no token', async () => {
  const api = await createApi();
  const session = await sessionOf(api, await signIn(api));
  expect(session).toMatchObject({ user: 'ann@example.com', workspace: 'default', scopes: ['read', 'write'] });
  await eventually(() => github.tokens.size === 0);
  // Another address at GitHub: the same user.
  github.account.emails = [{ email: 'new@elsewhere.example', primary: true, verified: false }];
  expect((await sessionOf(api, await signIn(api))).user).toBe('ann@example.com');
  expect(api.logged.join()).not.toMatch(/gho_|ggggg/);
});

it('refuses an address that is not verified or not the primary one, and another account with the same address', async () => {
  const api = await createApi();
  github.account.emails = [
    { email: 'ann@example.com', primary: true, verified: false },
    { email: 'ann@example.com', primary: false, verified: true },
  ];
  expect(await refusalOf(await signIn(api))).toEqual([403, expect.stringContaining('no usable e-mail address')]);
  github.account.emails = [{ email: 'ann@example.com', primary: true, verified: true }];
  await sessionOf(api, await signIn(api));
  github.account = { id: 7, emails: github.account.emails };
  expect((await refusalOf(await signIn(api)))[0]).toBe(403);
});

it('refuses a sign-in that was declined, a code of another browser, and a wrong secret, and repeats no text of GitHub', async () => {
  const api = await createApi();
  github.isDeclined = true;
  expect(await refusalOf(await signIn(api))).toEqual([401, expect.stringContaining('access_denied')]);
  github.isDeclined = false;
  const { urls } = await signIn(api);
  const back = urls.find(({ pathname }) => pathname === '/login/oidc/callback');
  expect((await refusalOf(await newBrowser(api).visit(back ?? new URL(origin))))[0]).toBe(401);
  const other = await createApi('wrong');
  const [status, page] = await refusalOf(await signIn(other));
  expect([status, page]).toEqual([401, expect.stringContaining('incorrect_client_credentials')]);
  expect(page).not.toContain('wrong');
});

it.each([
  ['/login/oauth/access_token', 502, 503],
  ['/api/v3/user', 500, 503],
  ['/api/v3/user/emails', 429, 503],
  ['/api/v3/user/emails', 403, 401],
] as const)('says so when %s answers %s', async (path, status, shown) => {
  const api = await createApi();
  github.broken = { path, status };
  expect((await refusalOf(await signIn(api)))[0]).toBe(shown);
  expect((await admin(api)).length).toBeGreaterThan(10);
});
