// Signing in with OpenID Connect, at a real server on loopback: the accepted accounts, and the users they become.
import { randomBytes } from 'node:crypto';

import { expect, it } from 'vitest';

import { addUser, admin, newBrowser, origin, refusalOf, sessionOf, signIn, take, useOidc } from './sign-in-support.ts';
import { createTestApi } from './support.ts';

const oidc = useOidc();
const { createApi } = oidc;

it('signs in the user whose name is the verified address, and knows them by their subject from then on', async () => {
  const api = await createApi();
  await addUser(api, 'ann@example.com');
  const first = await sessionOf(api, await signIn(api));
  expect(first).toMatchObject({ user: 'ann@example.com', workspace: 'default', scopes: ['read', 'write'] });
  expect(Date.parse(first.expiresAt)).toBeLessThanOrEqual(api.now() + 3_600_000);
  const who = await (await api.call('GET', '/v1/whoami', { token: first.token })).json();
  expect(who).toMatchObject({ user: 'ann@example.com', role: 'member' });
  // The address has changed and is no longer verified: the person is the same.
  oidc.server.account = { sub: 'sub-1', email: 'other@elsewhere.example' };
  expect((await sessionOf(api, await signIn(api))).user).toBe('ann@example.com');
  const events = (await (await api.call('GET', '/v1/workspace', { token: await admin(api) })).json()).events;
  expect(events.filter(({ code }: { code: string }) => code === 'ACCOUNT_TIED')).toHaveLength(1);
});

it('sends state, nonce and a PKCE challenge, and nothing of the session is in an address that a server sees', async () => {
  const api = await createApi();
  await addUser(api, 'ann@example.com');
  const attempt = await signIn(api);
  const asked = attempt.urls[1]?.searchParams;
  expect(Object.fromEntries(asked ?? [])).toMatchObject({
    ...{ response_type: 'code', code_challenge_method: 'S256', scope: 'openid email', client_id: oidc.server.clientId },
    ...{ state: expect.stringMatching(/^.{40,}$/), nonce: expect.stringMatching(/^.{40,}$/) },
  });
  const { token } = await sessionOf(api, attempt);
  for (const url of attempt.urls) expect(url.href).not.toContain(token);
  expect(api.logged.join()).not.toContain(token);
  expect(api.logged.join()).not.toContain(oidc.server.clientSecret);
});

it('keeps the session for the page that began, for a minute', async () => {
  const api = await createApi();
  await addUser(api, 'ann@example.com');
  const attempt = await signIn(api);
  const other = await take(api, { ...attempt, verifier: randomBytes(32).toString('base64url') });
  expect(other.status).toBe(401);
  const [once, again] = [await (await take(api, attempt)).json(), await (await take(api, attempt)).json()];
  expect(again).toEqual(once);
  api.clock.offsetMs += 61_000;
  expect((await take(api, attempt)).status).toBe(401);
  expect((await api.call('GET', '/v1/whoami', { token: once.token })).status).toBe(200);
  api.clock.offsetMs += 3_600_000;
  expect((await api.call('GET', '/v1/whoami', { token: once.token })).status).toBe(401);
});

it('refuses a person whom an admin has removed, until they are added again, as another user', async () => {
  const newPeople = { workspace: 'default', role: 'member' } as const;
  const api = await createApi({ domains: ['example.com'], newPeople });
  const token = await admin(api);
  const session = await sessionOf(api, await signIn(api));
  const path = '/v1/users/ann@example.com';
  expect((await api.call('DELETE', path, { token })).status).toBe(200);
  expect((await api.call('GET', '/v1/whoami', { token: session.token })).status).toBe(401);
  expect(await refusalOf(await signIn(api))).toEqual([403, expect.stringContaining('has removed you')]);
  // Another account with the same address does not restore them either.
  oidc.server.account = { sub: 'sub-2', email: 'ann@example.com', email_verified: true };
  expect(await refusalOf(await signIn(api))).toEqual([403, expect.stringContaining('has removed you')]);
  oidc.server.account = { sub: 'sub-1', email: 'ann@example.com', email_verified: true };
  await addUser(api, 'ann@example.com', 'read-only');
  expect((await sessionOf(api, await signIn(api))).scopes).toEqual(['read']);
  expect((await api.call('GET', '/v1/whoami', { token: session.token })).status).toBe(401);
});

it('lets people of several workspaces choose, and a name of a workspace proves nothing', async () => {
  const api = await createApi();
  await addUser(api, 'ann@example.com');
  const eve = await api.addToken('other', ['read', 'write', 'admin'], 'eve');
  await api.call('PUT', '/v1/users/ann@example.com', { body: { role: 'read-only' }, token: eve });
  await api.addToken('third', ['read'], 'zoe');
  const attempt = await signIn(api);
  const page = await attempt.response.text();
  expect(page).toContain('Choose a workspace');
  const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
  expect(links.map((link) => new URL(link, origin).searchParams.get('workspace'))).toEqual(['default', 'other']);
  const chosen = await newBrowser(api).visit(new URL(links[1] ?? '', origin));
  expect((await sessionOf(api, { ...chosen, verifier: attempt.verifier })).workspace).toBe('other');
  const [foreign, unknown] = [
    await refusalOf(await signIn(api, { query: '&workspace=third' })),
    await refusalOf(await signIn(api, { query: '&workspace=none-such' })),
  ];
  expect(foreign).toEqual(unknown);
  expect(foreign[0]).toBe(403);
});

it('asks a person of the operator’s workspace before an admin of another one gets them', async () => {
  const newPeople = { workspace: 'default', role: 'member' } as const;
  const api = await createApi({ domains: ['example.com'], newPeople });
  await admin(api);
  const eve = await api.addToken('other', ['read', 'write', 'admin'], 'eve');
  await api.call('PUT', '/v1/users/ann@example.com', { body: { role: 'member' }, token: eve });
  const attempt = await signIn(api);
  const page = await attempt.response.text();
  const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
  const workspaces = links.map((link) => new URL(link, origin).searchParams.get('workspace'));
  expect([workspaces, attempt.url.pathname]).toEqual([['other', 'default'], '/login/oidc/callback']);
  expect(page).toContain('an admin of it has added your address');
  const events = async (token: string) =>
    (await (await api.call('GET', '/v1/workspace', { token })).json()).events.map(({ code }: { code: string }) => code);
  expect(await events(eve)).not.toContain('ACCOUNT_TIED');
  const chosen = await newBrowser(api).visit(new URL(links[1] ?? '', origin));
  expect((await sessionOf(api, { ...chosen, verifier: attempt.verifier })).workspace).toBe('default');
  // Both stay usable: each sign-in offers the choice, unless it names one of them.
  expect(await (await signIn(api)).response.text()).toContain('Choose a workspace');
  expect((await sessionOf(api, await signIn(api, { query: '&workspace=other' }))).workspace).toBe('other');
});

it('an admin signs in without the scope of operators', async () => {
  const api = await createApi();
  await addUser(api, 'ann@example.com', 'admin');
  expect((await sessionOf(api, await signIn(api))).scopes).toEqual(['read', 'write', 'admin']);
});

it('is refused where no provider is configured, and offered where one is', async () => {
  const without = await createTestApi();
  expect((await without.app.request('/login/oidc')).status).toBe(404);
  expect(await (await without.call('GET', '/v1/login/methods', { token: null })).json()).toEqual({
    ...{ provider: null, mail: false },
  });
  const provider = { name: 'Our Login', path: '/login/oidc' };
  const api = await createApi();
  expect(await (await api.call('GET', '/v1/login/methods', { token: null })).json()).toEqual({
    ...{ provider, mail: false },
  });
  expect(await (await api.app.request('/login?code=BCDF-GHJK')).text()).toContain('sign in with Our Login');
});

it('approves a device without any token of one’s own', async () => {
  const api = await createApi();
  await addUser(api, 'ann@example.com');
  const begun = await api.call('POST', '/v1/login/device', { token: null, body: { client: 'CLI on laptop' } });
  const { userCode, deviceCode } = await begun.json();
  const { response } = await newBrowser(api).visit(`${origin}/login/oidc?code=${userCode}`);
  const page = await response.text();
  expect(page).toContain('CLI on laptop');
  expect(page).toContain('ann@example.com');
  const hidden = [...page.matchAll(/name="(code|token)" value="([^"]+)"/g)].map(([, name, value]) => [name, value]);
  const fields = { ...Object.fromEntries(hidden), decision: 'approve', scopes: 'read write', expires: '30 days' };
  const decided = await api.app.request('/login', {
    method: 'POST',
    headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });
  expect([decided.status, await decided.text()]).toEqual([200, expect.stringContaining('is signed in as')]);
  const made = await (await api.call('POST', '/v1/login/device/token', { token: null, body: { deviceCode } })).json();
  expect(made).toMatchObject({ user: 'ann@example.com', scopes: ['read', 'write'] });
  // Without a code in the address, the user types it after the sign-in.
  const typed = await newBrowser(api).visit(`${origin}/login/oidc`);
  expect(await typed.response.text()).toContain('<input name="code"');
});
