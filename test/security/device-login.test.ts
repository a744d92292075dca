// The approver of a device's sign-in sees the requesting device, and grants only the chosen rights.
import { expect, it } from 'vitest';

import { createTestApi, type TestApi } from '../api/support.ts';

async function begin(api: TestApi) {
  const headers = { 'x-forwarded-for': '203.0.113.9' };
  const body = { client: 'CLI on <evil>' };
  return (await api.call('POST', '/v1/login/device', { token: null, body, headers })).json();
}
const finish = async (api: TestApi, deviceCode: string) =>
  (await api.call('POST', '/v1/login/device/token', { token: null, body: { deviceCode } })).json();
const approve = (api: TestApi, body: object, token = api.token) =>
  api.call('POST', '/v1/login/device/approve', { token, body });
const day = 86_400_000;

async function operatorApi() {
  const api = await createTestApi({ trustedProxies: 1 });
  return { api, operator: await api.addToken('default', ['read', 'write', 'admin', 'operator']) };
}

it('gives read and write for 30 days unless more is asked for', async () => {
  const { api, operator } = await operatorApi();
  const login = await begin(api);
  const approved = await (await approve(api, { userCode: login.userCode }, operator)).json();
  expect(approved).toMatchObject({ client: 'CLI on <evil>', place: '203.0.113.9', scopes: ['read', 'write'] });
  const { scopes, expiresAt } = await finish(api, login.deviceCode);
  expect([scopes, expiresAt]).toEqual([['read', 'write'], approved.expiresAt]);
  expect(Math.abs(Date.parse(expiresAt) - api.now() - 30 * day)).toBeLessThan(60_000);
});

it('gives what was asked for, but never more than the approving token has, nor for longer', async () => {
  const { api, operator } = await operatorApi();
  const login = await begin(api);
  const asked = { userCode: login.userCode, scopes: ['read', 'admin'], expires: '2 days' };
  expect((await approve(api, asked)).status).toBe(403);
  expect((await approve(api, { ...asked, expires: '366 days' }, operator)).status).toBe(422);
  expect((await approve(api, asked, operator)).status).toBe(200);
  const made = await finish(api, login.deviceCode);
  expect(made.scopes).toEqual(['read', 'admin']);
  expect(Date.parse(made.expiresAt)).toBeLessThan(api.now() + 3 * day);
  const brief = await api.addToken('default', ['read'], 'ada', 'admin', api.now() + day);
  const second = await begin(api);
  expect((await approve(api, { userCode: second.userCode }, brief)).status).toBe(200);
  const { scopes, expiresAt } = await finish(api, second.deviceCode);
  expect(scopes).toEqual(['read']);
  expect(Date.parse(expiresAt)).toBeLessThanOrEqual(api.now() + day);
});

it('the page decides nothing before it has shown client, place and what is given', async () => {
  const { api, operator } = await operatorApi();
  const { userCode, deviceCode } = await begin(api);
  const post = (fields: Record<string, string>) =>
    api.app.request('/login', {
      method: 'POST',
      headers: { origin: 'http://127.0.0.1:7777', 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ code: userCode, token: operator, ...fields }).toString(),
    });
  const first = await post({});
  const page = await first.text();
  expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-store']);
  for (const shown of ['CLI on &lt;evil&gt;', '203.0.113.9', 'read write', '30 days']) expect(page).toContain(shown);
  expect((await finish(api, deviceCode)).error.code).toBe('AUTHORIZATION_PENDING');
  const decided = await post({ decision: 'approve', scopes: 'read', expires: '1 day' });
  expect(await decided.text()).toContain('with read, until');
  expect((await finish(api, deviceCode)).scopes).toEqual(['read']);
});
