// An agent returns after its machine slept for long: by the clock both its tokens have expired, and the agent still continues.
import { createSign, generateKeyPairSync } from 'node:crypto';

import { expect, it } from 'vitest';

import { instanceTokenTtlMs, launchTokenTtlMs, expiredTokenGraceMs } from '../../domain/tokens/limits.ts';
import { parseIdentityKeys } from '../../providers/aws/identity.ts';
import { testCloud, testHost } from './providers.ts';
import { createTestApi, launch, type TestApi } from './support.ts';

const local = 'i_0123456789abcdef';
const onEc2 = 'i-0123456789abcdef0';
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const identityKeys = parseIdentityKeys({ 'eu-central-1': pem });
const providers = [testHost(), testCloud({ identityKeys })] as const;

function identityOf(instanceId: string) {
  const document = JSON.stringify({
    ...{ accountId: '123456789012', instanceId, region: 'eu-central-1' },
    pendingTime: new Date().toISOString(),
  });
  return { document, signature: createSign('sha256').update(document).sign(keys.privateKey, 'base64') };
}

/** Registered, and then absent for a while. */
async function away(instance: string, awayMs: number) {
  const api = await createTestApi({ providers });
  const number = await api.submit({});
  launch(api, number, instance);
  const launchToken = await api.tokens.mintLaunch({ workspace: 'default', cluster: number, seq: 1 });
  const known = { instance, bootId: 'b'.repeat(32), address: '10.0.0.7', version: '0.1.0', pid: 42 };
  const body = { ...known, ...(instance === onEc2 ? { identity: identityOf(instance) } : {}) };
  const first = await api.call('POST', '/v1/agent/register', { token: launchToken, body });
  expect(first.status).toBe(200);
  const { instanceToken } = await first.json();
  api.clock.offsetMs += awayMs;
  const register = async (token: string, more: object = {}): Promise<number> =>
    (await api.call('POST', '/v1/agent/register', { token, body: { ...body, ...more } })).status;
  return { api, number, launchToken, instanceToken: String(instanceToken), register };
}

const twoDaysMs = 2 * launchTokenTtlMs;
const instanceOf = (api: TestApi, number: number) => api.workflows.clusters.get(number)?.instances[0];

it.each([local, onEc2])(
  '%s registers again with the token that has expired, when that of its launch has too',
  async (id) => {
    const { api, number, launchToken, instanceToken, register } = await away(id, twoDaysMs);
    expect(await register(launchToken)).toBe(401);
    const again = await register(instanceToken);
    expect(again).toBe(200);
    expect(instanceOf(api, number)).toMatchObject({ state: 'ready', agent: { bootId: 'b'.repeat(32) } });
  },
);

it('gets a token with which it talks, while the expired one opens nothing else', async () => {
  const { api, instanceToken } = await away(local, twoDaysMs);
  const bundle = async (token: string) => (await api.call('GET', '/v1/agent/bundle', { token })).status;
  expect(await bundle(instanceToken)).toBe(401);
  const body = { instance: local, bootId: 'b'.repeat(32), address: '10.0.0.7', version: '0.1.0', pid: 42 };
  const answer = await api.call('POST', '/v1/agent/register', { token: instanceToken, body });
  expect(await bundle((await answer.json()).instanceToken)).toBe(200);
});

it('is refused as another process, as another instance, once it was ended, and after too long', async () => {
  const { api, number, instanceToken, register } = await away(local, twoDaysMs);
  expect(await register(instanceToken, { bootId: 'c'.repeat(32) })).toBe(403);
  launch(api, number, 'i_fedcba9876543210', 1);
  expect(await register(instanceToken, { instance: 'i_fedcba9876543210' })).toBe(403);
  expect(api.workflows.clusters.get(number)?.instances[1]).toMatchObject({ agent: null });
  const known = instanceOf(api, number);
  if (known !== undefined) known.state = 'stopping';
  expect(await register(instanceToken)).toBe(403);
  const late = await away(local, instanceTokenTtlMs + expiredTokenGraceMs + 1_000);
  expect(await late.register(late.instanceToken)).toBe(401);
});

it('proves on EC2 which one it is, however old its proof, and needs no other way in while its token is good', async () => {
  const { instanceToken, register } = await away(onEc2, twoDaysMs);
  expect(await register(instanceToken, { identity: undefined })).toBe(403);
  expect(await register(instanceToken, { identity: identityOf('i-0fedcba9876543210') })).toBe(403);
  const soon = await away(onEc2, 1_000);
  expect(await soon.register(soon.instanceToken)).toBe(401);
});
