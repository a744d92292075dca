// Shared by the tests of signing in: an API in memory with a real server as identity provider, and a browser's requests between them.
import { createHash, randomBytes } from 'node:crypto';

import { afterAll, beforeAll, beforeEach, expect } from 'vitest';

import { createOidcProvider } from '../../platform/oidc.ts';
import { createSecret } from '../../platform/secret.ts';
import type { SignInSettings } from '../../services/login/sign-in-settings.ts';
import { BrowserLike, type Visit } from '../support/browser-like.ts';
import { startOidcServer, type OidcServer } from '../support/oidc-server.ts';
import { createTestApi, type TestApi } from './support.ts';

export const origin = 'http://127.0.0.1:7777';
export const web = { version: '1', html: '<html></html>', js: '', css: '' };
/** One server for each test file. */
export function useOidc() {
  let oidc: OidcServer;
  beforeAll(async () => {
    oidc = await startOidcServer(`${origin}/login/oidc/callback`);
  });
  afterAll(() => oidc?.close());
  beforeEach(() => {
    oidc.account = { sub: 'sub-1', email: 'Ann@Example.com', email_verified: true };
    oidc.tamper = null;
    oidc.isForged = false;
  });
  return {
    get server() {
      return oidc;
    },
    createApi: (settings: Partial<SignInSettings> = {}) => createApi(oidc, settings),
  };
}

async function createApi(oidc: OidcServer, settings: Partial<SignInSettings>) {
  const { issuer, clientId, clientSecret } = oidc;
  const provider = createOidcProvider(
    { issuer, clientId, clientSecret: createSecret(clientSecret), redirectUrl: `${origin}/login/oidc/callback` },
    () => performance.now(),
  );
  const own = { name: 'Our Login', provider, domains: null, newPeople: null, sessionMs: 3_600_000 };
  return createTestApi({ web, signIn: { ...own, ...settings } });
}

export const newBrowser = (api: TestApi): BrowserLike =>
  new BrowserLike((url, init) =>
    url.origin === origin ? Promise.resolve(api.app.request(url.href, init)) : fetch(url, init),
  );

export interface Attempt extends Visit {
  verifier: string;
}

export async function signIn(api: TestApi, { browser = newBrowser(api), query = '' } = {}): Promise<Attempt> {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const visit = await browser.visit(`${origin}/login/oidc?challenge=${challenge}${query}`);
  return { ...visit, verifier };
}

export async function take(api: TestApi, { url, verifier }: Attempt) {
  const body = { code: url.hash.slice(1), verifier };
  return api.call('POST', '/v1/login/oidc/token', { token: null, body });
}

/** The new session; fails when there is none. */
export async function sessionOf(api: TestApi, attempt: Attempt) {
  if (attempt.url.pathname !== '/signed-in') throw new Error(await attempt.response.text());
  const taken = await take(api, attempt);
  expect(taken.status).toBe(200);
  return (await taken.json()) as {
    token: string;
    user: string;
    workspace: string;
    scopes: string[];
    expiresAt: string;
  };
}

export async function refusalOf(attempt: Visit): Promise<[number, string]> {
  expect(attempt.url.pathname).toBe('/login/oidc/callback');
  return [attempt.response.status, await attempt.response.text()];
}

export const addUser = async (api: TestApi, name: string, role = 'member') =>
  expect((await api.call('PUT', `/v1/users/${name}`, { body: { role }, token: await admin(api) })).status).toBe(200);
export const admin = (api: TestApi) => api.addToken('default', ['read', 'write', 'admin']);
