// Signing in by a link in an e-mail, with a real SMTP server: the message, the session, devices, several workspaces.
import { expect, it } from 'vitest';

import { admin, origin } from './sign-in-support.ts';
import {
  address,
  confirm,
  cookieOf,
  linkIn,
  openMailApi,
  requestLink,
  signInByMail,
  tokenOf,
} from './sign-in-mail-support.ts';
import { createTestApi } from './support.ts';

it('is off unless the operator turns it on', async () => {
  const api = await createTestApi();
  const methods = await (await api.call('GET', '/v1/login/methods', { token: null })).json();
  expect(methods).toEqual({ provider: null, mail: false });
  expect((await requestLink(api)).response.status).toBe(404);
  expect((await confirm(api, 'a'.repeat(32))).status).toBe(404);
  expect(await (await api.app.request('/login')).text()).not.toContain('e-mail');
  using opened = await openMailApi();
  expect(await (await opened.api.call('GET', '/v1/login/methods', { token: null })).json()).toEqual({
    ...{ provider: null, mail: true },
  });
});

it('sends the user of the address a link that signs in as a sign-in at an identity provider does', async () => {
  using opened = await openMailApi();
  const { api, received } = opened;
  const requested = await requestLink(api);
  expect([requested.response.status, await requested.response.json()]).toEqual([202, { expiresInSeconds: 900 }]);
  expect(received).toMatchObject([{ to: [address] }]);
  const text = (received[0]?.raw ?? '').replaceAll('=\r\n', '');
  expect(text).toContain('\r\nSubject: Sign in to Ropewalk\r\n');
  expect(text).toContain('A browser at 198.51.100.7 requested a link');
  const link = linkIn(received);
  expect([`${link.origin}${link.pathname}`, link.search]).toEqual([`${origin}/login/mail/link`, '']);
  expect(link.hash).toMatch(/^#[A-Za-z0-9_-]{32}$/);
  const confirmed = await confirm(api, link.hash.slice(1), requested);
  expect([confirmed.status, cookieOf(confirmed)]).toEqual([303, 'ropewalk_mail=']);
  const session = await (await tokenOf(api, confirmed, requested.verifier)).json();
  expect(session).toMatchObject({ user: address, workspace: 'default', scopes: ['read', 'write'] });
  const lifeMs = Date.parse(session.expiresAt) - api.now();
  expect([lifeMs > 3_500_000, lifeMs <= 3_600_000]).toEqual([true, true]);
  const { token } = session;
  expect((await api.call('GET', '/v1/whoami', { token })).status).toBe(200);
  const listed = (await (await api.call('GET', '/v1/tokens', { token })).json()).items;
  expect(listed).toMatchObject([{ name: 'web sign-in', createdBy: address }]);
  expect((await api.call('DELETE', `/v1/users/${address}`, { token: await admin(api) })).status).toBe(200);
  expect((await api.call('GET', '/v1/whoami', { token })).status).toBe(401);
});

it('gives the session only to the page that requested the link', async () => {
  using opened = await openMailApi();
  const { api, received } = opened;
  const requested = await requestLink(api);
  const confirmed = await confirm(api, linkIn(received).href, requested);
  expect((await tokenOf(api, confirmed, 'v'.repeat(43))).status).toBe(401);
  expect((await tokenOf(api, confirmed, requested.verifier)).status).toBe(200);
});

it('an admin signs in without the scope of operators', async () => {
  using opened = await openMailApi();
  const { api, received } = opened;
  await api.call('PUT', `/v1/users/${address}`, { body: { role: 'admin' }, token: await admin(api) });
  expect((await signInByMail(api, received)).scopes).toEqual(['read', 'write', 'admin']);
});

it('takes an address in any case, and sends to the one that the admin has added', async () => {
  using opened = await openMailApi();
  const { api, received } = opened;
  await requestLink(api, ' Ann@EXAMPLE.com ');
  expect(received.map(({ to }) => to)).toEqual([[address]]);
});

it('a page that the link opens uses nothing up, has one script, and sends no referrer', async () => {
  using opened = await openMailApi();
  const { api, received } = opened;
  const requested = await requestLink(api);
  for (let count = 0; count < 3; count += 1) {
    const opened = await api.app.request('/login/mail/link', { headers: { cookie: requested.cookie } });
    expect(opened.headers.get('referrer-policy')).toBe('same-origin');
    expect(opened.headers.get('cache-control')).toBe('no-store');
    expect(opened.headers.get('content-security-policy')).toMatch(/script-src 'sha256-[^ ;]+'(;|$)/);
    expect(opened.headers.get('set-cookie')).toBeNull();
  }
  expect((await confirm(api, linkIn(received).href, requested)).status).toBe(303);
});

it('lets a person of several workspaces choose with the same link', async () => {
  using opened = await openMailApi();
  const { api, received } = opened;
  const eve = await api.addToken('other', ['read', 'write', 'admin'], 'eve');
  await api.addToken('third', ['read'], 'zoe');
  await api.call('PUT', `/v1/users/${address}`, { body: { role: 'read-only' }, token: eve });
  const requested = await requestLink(api);
  const link = linkIn(received).hash.slice(1);
  const page = await (await confirm(api, link, requested)).text();
  expect([...page.matchAll(/name="workspace" value="([^"]+)"/g)].map(([, slug]) => slug)).toEqual(['default', 'other']);
  for (const workspace of ['third', 'none-such']) {
    expect((await confirm(api, link, { ...requested, workspace })).status).toBe(410);
  }
  const chosen = await confirm(api, link, { ...requested, workspace: 'other' });
  const session = await (await tokenOf(api, chosen, requested.verifier)).json();
  expect(session).toMatchObject({ workspace: 'other', scopes: ['read'] });
  expect((await confirm(api, link, { ...requested, workspace: 'default' })).status).toBe(410);
});

it('approves a device without any token of one’s own', async () => {
  using opened = await openMailApi();
  const { api, received } = opened;
  const begun = await api.call('POST', '/v1/login/device', { token: null, body: { client: 'CLI on laptop' } });
  const { userCode, deviceCode } = await begun.json();
  const post = (path: string, fields: Record<string, string>) =>
    api.app.request(path, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    });
  const login = await (await api.app.request(`/login?code=${userCode}`)).text();
  expect(login).toContain(`action="/login/mail"`);
  const malformed = await post('/login/mail', { address: 'ann', code: userCode });
  expect([malformed.status, await malformed.text()]).toEqual([400, expect.stringContaining('one e-mail address')]);
  const asked = await post('/login/mail', { address, code: userCode });
  expect([asked.status, await asked.text()]).toEqual([200, expect.stringContaining('is on its way')]);
  await api.deps.linkMails.settled();
  const page = await (await confirm(api, linkIn(received).href, { cookie: cookieOf(asked) })).text();
  expect(page).toContain('CLI on laptop');
  const hidden = [...page.matchAll(/name="(code|token)" value="([^"]+)"/g)].map(([, name, value]) => [name, value]);
  const decided = await post('/login', {
    ...Object.fromEntries(hidden),
    ...{ decision: 'approve', scopes: 'read write', expires: '30 days' },
  });
  expect([decided.status, await decided.text()]).toEqual([200, expect.stringContaining('is signed in as')]);
  const made = await (await api.call('POST', '/v1/login/device/token', { token: null, body: { deviceCode } })).json();
  expect(made).toMatchObject({ user: address, scopes: ['read', 'write'] });
});

it('leaves no secret, and no address of a stranger, in logs', async () => {
  using opened = await openMailApi();
  const { api, received } = opened;
  const requested = await requestLink(api);
  const secret = linkIn(received).hash.slice(1);
  const [, browser = ''] = requested.cookie.split('=');
  await confirm(api, secret, { cookie: '' });
  const confirmed = await confirm(api, secret, requested);
  const { token } = await (await tokenOf(api, confirmed, requested.verifier)).json();
  await requestLink(api, 'stranger@example.com');
  const log = api.logged.join();
  for (const each of [secret, browser, requested.verifier, token, 'stranger@example.com']) {
    expect(log).not.toContain(each);
  }
  expect(log).toContain('a link to sign in was sent');
});
