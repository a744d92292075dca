// The environment of signing in at an identity provider.
import { expect, it } from 'vitest';

import { readSettings } from '../../api/settings.ts';
import { createSignIn } from '../../api/sign-in-settings.ts';

const good = { ROPEWALK_PORT: '7300', ROPEWALK_HOST_ID: 'host_1', ROPEWALK_PUBLIC_URL: 'https://ropewalk.example.com' };
const oidc = {
  ROPEWALK_OIDC_ISSUER: 'https://accounts.google.com',
  ROPEWALK_OIDC_CLIENT_ID: 'ropewalk',
  ROPEWALK_OIDC_CLIENT_SECRET_FILE: '/etc/secret',
};
const read = (more: Record<string, string> = {}) => readSettings({ ...good, ...oidc, ...more }).signIn;

it('is off without an issuer, and lets in only people who were added unless it says otherwise', () => {
  expect(readSettings(good).signIn).toBeNull();
  expect(read()).toEqual({
    ...{ issuer: oidc.ROPEWALK_OIDC_ISSUER, kind: 'openid', clientId: 'ropewalk', secret: { file: '/etc/secret' } },
    ...{ name: 'accounts.google.com', domains: null, newPeople: null, sessionMs: 168 * 3_600_000 },
  });
  const more = { ROPEWALK_OIDC_DOMAINS: 'Example.com,b.example', ROPEWALK_OIDC_NEW_PEOPLE: 'default:read-only' };
  expect(read({ ...more, ROPEWALK_OIDC_NAME: 'Google', ROPEWALK_SESSION_HOURS: '12' })).toMatchObject({
    ...{ name: 'Google', domains: ['example.com', 'b.example'], sessionMs: 12 * 3_600_000 },
    newPeople: { workspace: 'default', role: 'read-only' },
  });
});

it('signs in with GitHub at github.com, and at another address of it that is said to be one', () => {
  expect(read({ ROPEWALK_OIDC_ISSUER: 'https://github.com' })).toMatchObject({ kind: 'github', name: 'github.com' });
  const enterprise = { ROPEWALK_OIDC_ISSUER: 'https://github.example.com', ROPEWALK_OIDC_KIND: 'github' };
  expect(read(enterprise)).toMatchObject({ kind: 'github', issuer: 'https://github.example.com' });
});

it.each([
  ['another kind', { ROPEWALK_OIDC_KIND: 'saml' }, 'ROPEWALK_OIDC_KIND'],
  ['new people of any domain', { ROPEWALK_OIDC_NEW_PEOPLE: 'default:member' }, 'ROPEWALK_OIDC_DOMAINS'],
  ['new admins', { ROPEWALK_OIDC_NEW_PEOPLE: 'default:admin' }, 'ROPEWALK_OIDC_NEW_PEOPLE'],
  ['an issuer over plain HTTP', { ROPEWALK_OIDC_ISSUER: 'http://idp.example.com' }, 'ROPEWALK_OIDC_ISSUER'],
  ['an API over plain HTTP', { ROPEWALK_PUBLIC_URL: 'http://ropewalk.example.com' }, 'ROPEWALK_PUBLIC_URL'],
  ['two secrets', { ROPEWALK_OIDC_CLIENT_SECRET: 'canary' }, 'ROPEWALK_OIDC_CLIENT_SECRET_FILE'],
  ['no secret', { ROPEWALK_OIDC_CLIENT_SECRET_FILE: '' }, 'ROPEWALK_OIDC_CLIENT_SECRET_FILE'],
  ['no issuer', { ROPEWALK_OIDC_ISSUER: '' }, 'ROPEWALK_OIDC_ISSUER'],
  ['an address for a domain', { ROPEWALK_OIDC_DOMAINS: 'ann@example.com' }, 'ROPEWALK_OIDC_DOMAINS'],
  ['an endless session', { ROPEWALK_SESSION_HOURS: '100000' }, 'ROPEWALK_SESSION_HOURS'],
])('refuses %s', (_name, more, variable) => {
  expect(() => read(more)).toThrow(`  ${variable}: `);
  expect(() => read(more)).not.toThrow('canary');
});

it('reads the secret from its file once, and starts with none that is empty', async () => {
  const settings = read();
  if (settings === null) throw new Error('no settings');
  const ports = { publicUrl: 'https://ropewalk.example.com', monotonicMs: () => 0 };
  const signIn = await createSignIn(settings, { ...ports, read: () => Promise.resolve('the secret\n') });
  expect(JSON.stringify(signIn)).not.toContain('the secret');
  await expect(createSignIn(settings, { ...ports, read: () => Promise.resolve('\n') })).rejects.toThrow('is empty');
});
