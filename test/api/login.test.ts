// Signing in on a device: two codes, one decision, one token.
import { describe, expect, it } from 'vitest';

import { createLoginRates } from '../../services/login/rates.ts';
import { addressOf } from '../../api/middleware/caller-address.ts';
import {
  deviceLoginTtlMs,
  maxDeviceLogins,
  maxDeviceLoginsOfAddress,
  maxSignInsOfAddress,
  maxWrongUserCodes,
} from '../../domain/people/limits.ts';
import { createTestApi, type CallOptions, type TestApi } from './support.ts';

const codes = async (response: Response) => (await response.json()).error.code;

const begin = async (api: TestApi) => {
  const response = await api.call('POST', '/v1/login/device', { token: null, body: { client: 'CLI on <laptop>' } });
  expect(response.status).toBe(200);
  return response.json();
};
const poll = (api: TestApi, deviceCode: string) =>
  api.call('POST', '/v1/login/device/token', { token: null, body: { deviceCode } });
const approve = (api: TestApi, userCode: string, options: CallOptions & { approve?: boolean } = {}) =>
  api.call('POST', '/v1/login/device/approve', { ...options, body: { userCode, approve: options.approve ?? true } });

describe('device login', () => {
  it('waits for a person, then gives a token of theirs, the same when asked again', async () => {
    const api = await createTestApi();
    const login = await begin(api);
    expect(login.userCode).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
    expect(login.verificationUrlComplete).toBe(`http://127.0.0.1:7777/login?code=${login.userCode}`);
    const waiting = await poll(api, login.deviceCode);
    expect(waiting.status).toBe(428);
    expect(waiting.headers.get('retry-after')).toBe(String(login.intervalSeconds));
    const approved = await approve(api, login.userCode.toLowerCase().replace('-', ' '));
    expect(await approved.json()).toMatchObject({ client: 'CLI on <laptop>', approved: true, place: null });
    const first = await (await poll(api, login.deviceCode)).json();
    expect(first).toMatchObject({ workspace: 'default', user: 'ada', scopes: ['read', 'write'] });
    expect(await (await poll(api, login.deviceCode)).json()).toEqual(first);
    const tokens = await api.store.people.listTokens('default', {});
    expect(tokens.filter(({ name }) => name === 'CLI on <laptop>')).toHaveLength(1);
    expect((await api.call('GET', '/v1/whoami', { token: first.token })).status).toBe(200);
  });

  it('stores neither code in readable form', async () => {
    const api = await createTestApi();
    const login = await begin(api);
    await approve(api, login.userCode);
    const { token } = await (await poll(api, login.deviceCode)).json();
    const tokens = await api.store.people.listTokens('default', {});
    const kept = await api.store.logins.find(login.deviceCode.split('.')[0], api.now());
    expect(kept).toMatchObject({ decision: { approved: true } });
    const stored: string[] = [JSON.stringify([tokens, kept]), ...api.logged];
    for (const key of await api.objects.list('', { limit: 100 })) {
      stored.push(key, Buffer.from((await api.objects.get(key)) ?? []).toString());
    }
    const secrets = [
      login.userCode.replace('-', ''),
      login.deviceCode.split('.')[1],
      token.split('-').slice(1).join('-'),
    ];
    for (const secret of secrets) expect(stored.join('\n')).not.toContain(secret);
  });

  it('can be denied, runs out, and is decided once', async () => {
    const api = await createTestApi();
    const denied = await begin(api);
    expect((await approve(api, denied.userCode, { approve: false })).status).toBe(200);
    expect(await codes(await poll(api, denied.deviceCode))).toBe('FORBIDDEN');
    expect((await approve(api, denied.userCode)).status).toBe(404);
    const late = await begin(api);
    api.clock.offsetMs += deviceLoginTtlMs + 1;
    expect((await approve(api, late.userCode)).status).toBe(404);
    const over = await poll(api, late.deviceCode);
    expect([over.status, await codes(over)]).toEqual([410, 'EXPIRED']);
    const login = await begin(api);
    const [key] = login.deviceCode.split('.');
    for (const wrong of [`${key}.${'A'.repeat(43)}`, 'nonsense']) expect((await poll(api, wrong)).status).toBe(410);
  });

  it('gives nothing when the token that approved was revoked since', async () => {
    const api = await createTestApi();
    const login = await begin(api);
    await approve(api, login.userCode);
    await api.revoke(api.token);
    expect((await poll(api, login.deviceCode)).status).toBe(401);
  });

  it('bounds concurrent guesses, and does not count a correct code', async () => {
    const api = await createTestApi();
    const guesses = Array.from({ length: 3 * maxWrongUserCodes }, () => approve(api, 'BBBB-BBBB'));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 404)).toHaveLength(maxWrongUserCodes);
    expect(new Set(statuses)).toEqual(new Set([404, 429]));
    api.clock.offsetMs += deviceLoginTtlMs;
    for (let n = 0; n <= maxWrongUserCodes; n += 1) {
      expect((await approve(api, (await begin(api)).userCode)).status).toBe(200);
    }
  });

  it('bounds logins of one address, and of no other', async () => {
    const api = await createTestApi({ trustedProxies: 1 });
    const from = (address: string) =>
      api.call('POST', '/v1/login/device', {
        token: null,
        body: {},
        headers: { 'x-forwarded-for': `1.1.1.1, ${address}` },
      });
    for (let n = 0; n < maxDeviceLoginsOfAddress; n += 1) expect((await from('203.0.113.1')).status).toBe(200);
    const full = await from('203.0.113.1');
    expect([full.status, await codes(full)]).toEqual([429, 'TOO_BUSY']);
    expect((await from('198.51.100.1')).status).toBe(200);
    api.clock.offsetMs += deviceLoginTtlMs;
    expect((await from('203.0.113.1')).status).toBe(200);
  });

  it('does not stop sign-ins at the identity provider from the same address, nor these the logins', () => {
    const rates = createLoginRates(() => 0);
    const here = '203.0.113.1';
    for (let n = 0; n < maxDeviceLoginsOfAddress; n += 1) rates.begin(here);
    expect(() => rates.begin(here)).toThrow('Too many logins were begun from here.');
    for (let n = 0; n < maxSignInsOfAddress; n += 1) rates.finish(here);
    expect(() => rates.finish(here)).toThrow('Too many people have signed in from here.');
    expect(() => rates.begin('198.51.100.1')).not.toThrow();
    expect(() => rates.finish('198.51.100.1')).not.toThrow();
  });

  it.each(['\u001b[2J', 'a\u202eb', 'a\u2066b', '\u200f', 'a\nb', '\u0000', '\u009b1m', '\ufeff'])(
    'refuses the name %j of a device or a token, which a page or a terminal would obey',
    async (name) => {
      const api = await createTestApi();
      const device = await api.call('POST', '/v1/login/device', { token: null, body: { client: name } });
      const token = await api.call('POST', '/v1/tokens', { body: { name } });
      const refusals = await Promise.all(
        [device, token].map(async (response) => [response.status, (await response.json()).error.field]),
      );
      expect(refusals).toEqual([
        [422, 'client'],
        [422, 'name'],
      ]);
      const plain = { client: 'CLI on Zoë’s “laptop” <é 机>' };
      expect((await api.call('POST', '/v1/login/device', { token: null, body: plain })).status).toBe(200);
    },
  );

  it('drops logins of the address that floods before those of other addresses', () => {
    const rates = createLoginRates(() => 0);
    const gone: (string | null)[] = [];
    const from = (address: string, key: string) => gone.push(rates.begin(address).begun(key));
    from('198.51.100.1', 'ours');
    for (let n = 0; n < 3 * maxDeviceLogins; n += 1) from(`203.0.${Math.floor(n / 50)}.9`, `flood ${n}`);
    expect(gone.filter((key) => key !== null)).toHaveLength(2 * maxDeviceLogins + 1);
    expect(gone).not.toContain('ours');
  });

  it('drops the oldest undecided login where addresses cannot be distinguished', async () => {
    const api = await createTestApi();
    const [decided, oldest] = [await begin(api), await begin(api)];
    expect((await approve(api, decided.userCode)).status).toBe(200);
    for (let n = 0; n < maxDeviceLogins; n += 1) await begin(api);
    expect((await poll(api, oldest.deviceCode)).status).toBe(410);
    expect((await poll(api, decided.deviceCode)).status).toBe(200);
  });

  it('knows an address only from where it can be trusted', () => {
    expect(addressOf('192.0.2.1', '198.51.100.7', 0)).toBe('192.0.2.1');
    expect(addressOf('127.0.0.1', '198.51.100.7', 0)).toBeNull();
    expect(addressOf('127.0.0.1', '6.6.6.6, 198.51.100.7', 1)).toBe('198.51.100.7');
    expect(addressOf('127.0.0.1', '6.6.6.6, 198.51.100.7, 10.0.0.1', 2)).toBe('198.51.100.7');
    expect(addressOf('10.0.0.1', undefined, 1)).toBeNull();
    expect(addressOf('::ffff:192.0.2.1', undefined, 0)).toBe('192.0.2.1');
    expect(addressOf('2001:db8::1', undefined, 0)).toBe(addressOf('2001:db8:0:0:ffff::2', undefined, 0));
    expect(addressOf('2001:db8:0:1::1', undefined, 0)).not.toBe(addressOf('2001:db8::1', undefined, 0));
    expect(addressOf(undefined, 'nonsense', 1)).toBeNull();
  });

  it('bounds guesses of codes, and forgets them with their time', async () => {
    const api = await createTestApi();
    for (let n = 0; n < maxWrongUserCodes; n += 1) expect((await approve(api, 'BBBB-BBBB')).status).toBe(404);
    const login = await begin(api);
    expect((await approve(api, login.userCode)).status).toBe(429);
    const other = await api.addToken('default', ['read'], 'grace');
    api.clock.offsetMs += 2_001;
    expect((await approve(api, login.userCode, { token: other })).status).toBe(200);
    api.clock.offsetMs += deviceLoginTtlMs;
    await begin(api);
    expect((await approve(api, 'BBBB-BBBB')).status).toBe(404);
  });

  it('has a page without scripts that takes its form from itself alone', async () => {
    const api = await createTestApi();
    const { userCode, deviceCode } = await begin(api);
    const page = await api.call('GET', `/login?code=${encodeURIComponent('"><script>')}`, { token: null });
    expect(await page.text()).not.toContain('<script');
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self'");
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const post = (origin: string, token: string) =>
      api.app.request('/login', {
        method: 'POST',
        headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ code: userCode, token, decision: 'approve' }).toString(),
      });
    expect((await post('http://evil.example', api.token)).status).toBe(403);
    expect((await post('http://127.0.0.1:7777', 'rw_default_nope')).status).toBe(400);
    expect((await poll(api, deviceCode)).status).toBe(428);
    expect(await (await post('http://127.0.0.1:7777', api.token)).text()).toContain('signed in as ada');
    expect((await poll(api, deviceCode)).status).toBe(200);
  });
});
