// The refusals of a sign-in with OpenID Connect. The server is a real one, and signs the test's contents of its ID tokens.
import { createHash } from 'node:crypto';

import type { JWTPayload } from 'jose';
import { expect, it } from 'vitest';

import { createOidcProvider } from '../../platform/oidc.ts';
import { createSecret } from '../../platform/secret.ts';
import type { BrowserLike } from '../support/browser-like.ts';
import { addUser, admin, newBrowser, origin, refusalOf, sessionOf, signIn, useOidc } from './sign-in-support.ts';
import type { TestApi } from './support.ts';

const oidc = useOidc();
const { createApi } = oidc;

it('refuses people whom no admin has added, unless the operator lets a domain in', async () => {
  const closed = await createApi();
  await admin(closed);
  const [status, text] = await refusalOf(await signIn(closed));
  expect([status, text]).toEqual([403, expect.stringContaining('no workspace has a user ann@example.com')]);
  const newPeople = { workspace: 'default', role: 'read-only' } as const;
  const open = await createApi({ domains: ['example.com'], newPeople });
  await admin(open);
  const session = await sessionOf(open, await signIn(open));
  expect(session).toMatchObject({ user: 'ann@example.com', scopes: ['read'] });
  oidc.server.account = { sub: 'sub-2', email: 'ann@example.com.evil.example', email_verified: true };
  expect(await refusalOf(await signIn(open))).toEqual([403, expect.stringContaining('do not sign in here')]);
});

it('refuses an address that is not verified, of which nothing is said, or that is missing', async () => {
  const api = await createApi();
  await addUser(api, 'ann@example.com');
  const email = 'ann@example.com';
  for (const claims of [{ email, email_verified: false }, { email }, {}]) {
    oidc.server.account = { sub: 'sub-1', ...claims };
    expect(await refusalOf(await signIn(api))).toEqual([403, expect.stringContaining('no usable e-mail address')]);
  }
});

it('refuses an address that only folds to the address of a user, or to a domain that signs in', async () => {
  const newPeople = { workspace: 'default', role: 'member' } as const;
  const api = await createApi({ domains: ['kelvin.example'], newPeople });
  await addUser(api, 'mark@kelvin.example', 'admin');
  const addresses = [
    'mar\u212A@kelvin.example',
    'mark@\u212Aelvin.example',
    'a@b@kelvin.example',
    'a b@kelvin.example',
  ];
  for (const [at, email] of addresses.entries()) {
    oidc.server.account = { sub: `sub-${at}`, email, email_verified: true };
    const refusal = await refusalOf(await signIn(api));
    expect([email, ...refusal]).toEqual([email, 403, expect.stringContaining('no usable e-mail address')]);
  }
});

it('gives the address of a user to no second account', async () => {
  const api = await createApi();
  await addUser(api, 'ann@example.com');
  await sessionOf(api, await signIn(api));
  oidc.server.account = { sub: 'sub-of-her-successor', email: 'ann@example.com', email_verified: true };
  expect(await refusalOf(await signIn(api))).toEqual([403, expect.stringContaining('belongs to another account')]);
});

const hour = 3_600;
const withoutClaim =
  (name: string) =>
  (claims: JWTPayload): JWTPayload =>
    Object.fromEntries(Object.entries(claims).filter(([each]) => each !== name));
const wrongTokens: Record<string, [tamper: (claims: JWTPayload) => JWTPayload, why: string]> = {
  'another nonce': [(claims) => ({ ...claims, nonce: 'n'.repeat(43) }), 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
  'no nonce': [withoutClaim('nonce'), 'OAUTH_INVALID_RESPONSE'],
  'an end in the past': [
    (claims) => ({ ...claims, iat: seconds() - 2 * hour, exp: seconds() - hour }),
    'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  ],
  'another audience': [(claims) => ({ ...claims, aud: 'another-client' }), 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
  'another party': [(claims) => ({ ...claims, aud: ['ropewalk', 'b'], azp: 'b' }), 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
  'another issuer': [(claims) => ({ ...claims, iss: 'https://accounts.example' }), 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
  'no subject': [withoutClaim('sub'), 'OAUTH_INVALID_RESPONSE'],
};

it('refuses every ID token that is not for this sign-in, and one that a foreign key has signed', async () => {
  const api = await createApi();
  await addUser(api, 'ann@example.com');
  const reasons: Record<string, unknown> = {};
  for (const [name, [tamper]] of Object.entries(wrongTokens)) {
    oidc.server.tamper = tamper;
    const [status, text] = await refusalOf(await signIn(api));
    expect([name, status]).toEqual([name, 401]);
    reasons[name] = /was refused: (\w+)/.exec(text)?.[1];
  }
  expect(reasons).toEqual(Object.fromEntries(Object.entries(wrongTokens).map(([name, [, why]]) => [name, why])));
  oidc.server.tamper = null;
  oidc.server.isForged = true;
  expect(await refusalOf(await signIn(api))).toEqual([401, expect.stringContaining('OAUTH_INVALID_RESPONSE')]);
  oidc.server.isForged = false;
  expect((await sessionOf(api, await signIn(api))).user).toBe('ann@example.com');
});

/** Up to the provider's answer, which is not delivered. */
async function answerFor(api: TestApi, browser: BrowserLike): Promise<URL> {
  const challenge = createHash('sha256').update('v').digest('base64url');
  const isBack = (url: URL): boolean => url.pathname === '/login/oidc/callback';
  return (await browser.visit(`${origin}/login/oidc?challenge=${challenge}`, isBack)).url;
}

it('takes an answer once, with its own state, in the browser that began, within ten minutes', async () => {
  const api = await createApi();
  await addUser(api, 'ann@example.com');
  const browser = newBrowser(api);
  const answer = await answerFor(api, browser);
  const changed = new URL(answer);
  changed.searchParams.set('state', 's'.repeat(43));
  const kept = new Map(browser.cookies);
  const again = (): BrowserLike => {
    const copy = newBrowser(api);
    for (const [name, cookie] of kept) copy.cookies.set(name, cookie);
    return copy;
  };
  expect((await again().visit(changed)).response.status).toBe(401);
  expect((await newBrowser(api).visit(answer)).response.status).toBe(401);
  const elsewhere = new URL(answer);
  elsewhere.searchParams.set('iss', 'https://accounts.example.com');
  expect((await again().visit(elsewhere)).response.status).toBe(401);
  expect((await browser.visit(answer)).url.pathname).toBe('/signed-in');
  // Its cookie is deleted, and with a copy of the cookie, the code is spent.
  expect((await browser.visit(answer)).response.status).toBe(401);
  const replayed = await again().visit(answer);
  expect([replayed.response.status, await replayed.response.text()]).toEqual([
    401,
    expect.stringContaining('invalid_grant'),
  ]);
  const late = newBrowser(api);
  const lateAnswer = await answerFor(api, late);
  api.clock.offsetMs += 601_000;
  expect((await late.visit(lateAnswer)).response.status).toBe(401);
});

it('takes neither the answer of another deployment nor one that was sealed for another purpose', async () => {
  const api = await createApi();
  const claims = { attempt: { state: 's' }, purpose: { kind: 'device', userCode: '' }, workspace: null };
  const sealed = await api.deps.sealedTexts.seal('signed-in', claims, 60_000);
  const headers = { cookie: `ropewalk_sign_in=${sealed}` };
  const answer = await api.app.request(`${origin}/login/oidc/callback?code=c&state=s`, { headers });
  expect(answer.status).toBe(401);
});

it('says so when the person declines, and when the provider does not answer', async () => {
  const api = await createApi();
  const browser = newBrowser(api);
  const answer = await answerFor(api, browser);
  answer.searchParams.delete('code');
  answer.searchParams.set('error', 'access_denied');
  answer.searchParams.set('error_description', '<script>alert(1)</script>');
  const declined = await browser.visit(answer);
  expect([declined.response.status, await declined.response.text()]).toEqual([
    401,
    expect.not.stringContaining('<script>'),
  ]);
  const settings = { issuer: 'http://127.0.0.1:1', clientId: 'c', clientSecret: createSecret('s') };
  const provider = createOidcProvider({ ...settings, redirectUrl: `${origin}/login/oidc/callback` }, () => 0);
  const away = await createApi({ provider });
  const refused = await away.app.request(`${origin}/login/oidc`);
  expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining('does not answer')]);
});

const seconds = (): number => Math.floor(Date.now() / 1_000);
