// Signing in at an identity provider in a real browser, and signing out.
import { afterEach, describe, expect, it } from 'vitest';

import { createOidcProvider } from '../../platform/oidc.ts';
import { createSecret } from '../../platform/secret.ts';
import { createTestApi } from '../api/support.ts';
import { eventually } from '../support/eventually.ts';
import { startOidcServer, type OidcServer } from '../support/oidc-server.ts';
import { hasChromium } from './chromium.ts';
import { useWebApp } from './web-app.ts';

describe.runIf(hasChromium)('signing in at an identity provider', () => {
  let oidc: OidcServer;
  const app = useWebApp(async ({ bundle, origin }) => {
    const redirectUrl = `${origin}/login/oidc/callback`;
    oidc = await startOidcServer(redirectUrl);
    oidc.account = { sub: 'sub-1', email: 'ann@example.com', email_verified: true };
    const { issuer, clientId, clientSecret } = oidc;
    const settings = { issuer, clientId, clientSecret: createSecret(clientSecret), redirectUrl };
    const provider = createOidcProvider(settings, () => performance.now());
    const signIn = { name: 'Our Login', provider, domains: null, newPeople: null, sessionMs: 3_600_000 };
    const api = await createTestApi({ web: bundle, publicUrl: origin, signIn });
    const put = { name: 'ann@example.com', role: 'member', by: null } as const;
    await api.store.people.putUser('default', put, api.now());
    return api;
  });
  const { complaints } = app;
  afterEach(() => oidc?.close());
  const begin = () => app.page.getByRole('button', { name: 'Sign in with Our Login' }).click();

  it('leads there and back, keeps no cookie and no secret in the address, and ends the session on the way out', async () => {
    await app.page.goto('/');
    await app.page.getByRole('button', { name: 'Sign in with Our Login' }).waitFor();
    await app.accessible('sign-in-provider');
    await begin();
    await app.page.getByText('ann@example.com in default').waitFor();
    expect(new URL(app.page.url()).hash).toBe('');
    // The provider is on the same host here.
    const cookies = (await app.page.context().cookies(app.page.url())).map(({ name }) => name);
    expect(cookies.filter((name) => name.includes('ropewalk'))).toEqual([]);
    expect(await app.page.evaluate(() => localStorage.length)).toBe(0);
    const token = (await app.page.evaluate(() => sessionStorage.getItem('ropewalk.token'))) ?? '';
    expect((await app.api.call('GET', '/v1/whoami', { token })).status).toBe(200);
    await app.page.reload();
    await app.page.getByText('ann@example.com in default').waitFor();
    await app.page.getByRole('button', { name: 'Sign out' }).click();
    await begin();
    await app.page.getByText('ann@example.com in default').waitFor();
    await eventually(async () => (await app.api.call('GET', '/v1/whoami', { token })).status === 401);
    expect(complaints).toEqual([]);
  });

  it('leads back to the page that was asked for', async () => {
    await app.page.goto('/jobs?q=train');
    await begin();
    await app.page.getByRole('heading', { name: 'Jobs' }).waitFor();
    const { pathname, search, hash } = new URL(app.page.url());
    expect(`${pathname}${search}${hash}`).toBe('/jobs?q=train');
    expect(await app.page.getByLabel('Search').inputValue()).toBe('train');
    expect(complaints).toEqual([]);
  });

  it('lets a person of several workspaces choose, and ends in the one that was chosen', async () => {
    const eve = await app.api.addToken('other', ['read', 'write', 'admin'], 'eve');
    const put = { body: { role: 'read-only' }, token: eve };
    expect((await app.api.call('PUT', '/v1/users/ann@example.com', put)).status).toBe(200);
    const tied = async () =>
      JSON.stringify(await (await app.api.call('GET', '/v1/workspace', { token: eve })).json()).includes(
        'ACCOUNT_TIED',
      );
    await app.page.goto('/');
    await begin();
    await app.page.getByRole('heading', { name: 'Choose a workspace' }).waitFor();
    await app.accessible('sign-in-choice');
    // No user is signed in yet.
    expect([await tied(), await app.page.evaluate(() => sessionStorage.getItem('ropewalk.token'))]).toEqual([
      false,
      null,
    ]);
    expect(await app.page.getByRole('listitem').allTextContents()).toEqual([
      expect.stringContaining('default'),
      expect.stringContaining('other'),
    ]);
    await app.page.getByRole('link', { name: 'other' }).click();
    await app.page.getByText('ann@example.com in other').waitFor();
    expect([await tied(), new URL(app.page.url()).hash]).toEqual([true, '']);
    expect(complaints).toEqual([]);
  });

  it('leaves a token that the user has brought as it is', async () => {
    await app.page.goto('/');
    await app.page.getByLabel('One of your API tokens').fill(app.api.token);
    await app.page.getByRole('button', { name: 'Sign in with a token' }).click();
    await app.page.getByRole('button', { name: 'Sign out' }).click();
    await begin();
    await app.page.getByText('ann@example.com in default').waitFor();
    expect((await app.api.call('GET', '/v1/whoami')).status).toBe(200);
  });

  it('shows why it was refused', async () => {
    oidc.account = { sub: 'sub-2', email: 'eve@example.com', email_verified: true };
    await app.page.goto('/');
    await begin();
    await app.page.getByText('no workspace has a user eve@example.com').waitFor();
    await app.accessible('sign-in-refused');
    await app.page.getByRole('link', { name: 'Back to the start' }).click();
    await app.page.getByLabel('One of your API tokens').waitFor();
    await app.page.goto('/signed-in#made-up');
    await app.page.getByRole('alert').getByText('Sign in again').waitFor();
    expect(await app.page.evaluate(() => sessionStorage.length)).toBe(0);
  });

  it('approves a terminal', async () => {
    const begun = await app.api.call('POST', '/v1/login/device', {
      token: null,
      body: { client: 'ropewalk on laptop' },
    });
    const { userCode, deviceCode } = await begun.json();
    await app.page.goto(`/login?code=${userCode}`);
    await app.accessible('login-code');
    await app.page.emulateMedia({ colorScheme: 'dark' });
    // Axe checks no borders, and takes a white field on a dark page for good.
    const [text, border] = await app.page.getByLabel('Code').evaluate((input) => {
      const lightness = (color: string): number => {
        const [red = 0, green = 0, blue = 0] = (color.match(/\d+/g) ?? []).map((each) => {
          const part = Number(each) / 255;
          return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      const [page, own] = [getComputedStyle(document.body), getComputedStyle(input)];
      const over = (color: string, ground: string) => (lightness(color) + 0.05) / (lightness(ground) + 0.05);
      return [over(own.color, own.backgroundColor), over(own.borderTopColor, page.backgroundColor)];
    });
    expect(text).toBeGreaterThan(4.5);
    expect(border).toBeGreaterThan(3);
    await app.page.emulateMedia({ colorScheme: 'light' });
    await app.page.getByRole('link', { name: 'sign in with Our Login' }).click();
    await app.page.getByText('ropewalk on laptop').waitFor();
    await app.accessible('login-decision');
    await app.page.getByRole('button', { name: 'Approve' }).click();
    await app.page.getByText('The device is signed in as ann@example.com').waitFor();
    const token = await app.api.call('POST', '/v1/login/device/token', { token: null, body: { deviceCode } });
    expect(await token.json()).toMatchObject({ user: 'ann@example.com', scopes: ['read', 'write'] });
    expect(complaints).toEqual([]);
  });
});
