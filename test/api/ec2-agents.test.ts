// Agents on EC2 and the API: which ones may register as an instance, and how an instance gets its agent.
import 'reflect-metadata';
import { createHash, createSign, generateKeyPairSync } from 'node:crypto';

import { X509CertificateGenerator } from '@peculiar/x509';
import { describe, expect, it } from 'vitest';

import { publishProgram } from '../../services/agents/program.ts';
import { launchTokenTtlMs } from '../../domain/tokens/limits.ts';
import { parseIdentityKeys, verifyIdentity } from '../../providers/aws/identity.ts';
import { testCloud, testHost } from './providers.ts';
import { createTestApi, launch, type TestApi } from './support.ts';

const keyPair = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const cloud = keyPair();
const forger = keyPair();
const pem = (pair: typeof cloud) => pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const identityKeys = parseIdentityKeys({ 'eu-central-1': pem(cloud) });
const providers = [testHost(), testCloud({ identityKeys })] as const;

const own = 'i-0123456789abcdef0';
const other = 'i-0fedcba9876543210';

interface Claims {
  instanceId?: string;
  region?: string;
  pendingTime?: string;
}

function identityOf(claims: Claims = {}, pair = cloud) {
  const document = JSON.stringify(
    {
      accountId: '123456789012',
      instanceId: own,
      pendingTime: new Date().toISOString(),
      region: 'eu-central-1',
      version: '2017-09-30',
      ...claims,
    },
    null,
    2,
  );
  return { document, signature: createSign('sha256').update(document).sign(pair.privateKey, 'base64') };
}

async function register(api: TestApi, number: number, more: object, instance = own) {
  const token = await api.tokens.mintLaunch({ workspace: 'default', cluster: number, seq: 1 });
  const known = { instance, bootId: 'b'.repeat(32), address: '10.0.0.7', version: '0.1.0', pid: 42 };
  const response = await api.call('POST', '/v1/agent/register', { token, body: { ...known, ...more } });
  const { error } = await response.json();
  return { status: response.status, message: String(error?.message ?? '') };
}

async function jobOn(api: TestApi): Promise<number> {
  const number = await api.submit({});
  launch(api, number, own);
  return number;
}

describe('an instance of EC2', () => {
  it('registers with its signed identity document, again too, but never as another process', async () => {
    const api = await createTestApi({ providers });
    const number = await jobOn(api);
    const identity = identityOf();
    expect((await register(api, number, { identity })).status).toBe(200);
    expect((await register(api, number, { identity })).status).toBe(200);
    expect((await register(api, number, { identity, bootId: 'c'.repeat(32) })).status).toBe(403);
    // A thief of the launch token cannot end an instance that has registered.
    expect((await register(api, number, { identity: identityOf({}, forger) })).status).toBe(403);
    expect(api.workflows.clusters.get(number)?.instances[0]?.state).toBe('ready');
  });

  it.each([
    ['none', {}, 'without its identity document'],
    ['one that it has signed itself', { identity: identityOf({}, forger) }, 'signature is invalid'],
    [
      'one that was changed',
      { identity: { ...identityOf(), document: identityOf().document.replace('123456789012', '210987654321') } },
      'signature is invalid',
    ],
    ['one of another instance', { identity: identityOf({ instanceId: other }) }, 'of another instance'],
    ['one of a region that is not ours', { identity: identityOf({ region: 'us-east-1' }) }, 'region has no key'],
    [
      'an old one',
      { identity: identityOf({ pendingTime: new Date(Date.now() - launchTokenTtlMs - 60_000).toISOString() }) },
      'too old',
    ],
    ['none that could be read', { identity: { document: '<xml/>', signature: '' } }, 'not an identity document'],
  ])('is refused with %s', async (_, more, why) => {
    const api = await createTestApi({ providers });
    const number = await jobOn(api);
    const answer = await register(api, number, more);
    expect([answer.status, answer.message]).toEqual([403, expect.stringContaining(why)]);
    // The cluster gets the reason at once: its agent gives up, and the replacement does not wait for a timeout.
    const [instance] = api.workflows.clusters.get(number)?.instances ?? [];
    expect(instance).toMatchObject({ agent: null, state: 'error', reason: { code: 'REGISTRATION_REFUSED' } });
    expect(instance?.state === 'error' && instance.reason.text).toContain(why);
  });

  it('is refused in a cluster that has not launched it, and where no keys were given', async () => {
    const api = await createTestApi({ providers });
    const number = await jobOn(api);
    const identity = identityOf({ instanceId: other });
    expect((await register(api, number, { identity }, other)).status).toBe(403);
    const bare = await createTestApi({ providers: [testHost(), testCloud({})] });
    const answer = await register(bare, await jobOn(bare), { identity: identityOf() });
    expect(answer.message).toContain('ROPEWALK_AWS_IDENTITY_KEYS');
  });

  it('reports an interruption to its cluster, in a form that is checked', async () => {
    const api = await createTestApi({ providers });
    const number = await jobOn(api);
    const token = await api.tokens.mintLaunch({ workspace: 'default', cluster: number, seq: 1 });
    const body = { instance: own, bootId: 'b'.repeat(32), address: '10.0.0.7', version: '0.1.0', pid: 42 };
    const registered = await api.call('POST', '/v1/agent/register', {
      token,
      body: { ...body, identity: identityOf() },
    });
    const { instanceToken } = await registered.json();
    const report = (interruption: object) =>
      api.call('POST', '/v1/agent/report', {
        token: instanceToken,
        body: { kind: 'alive', bootId: body.bootId, address: body.address, interruption },
      });
    expect((await report({ kind: 'terminate', at: '2026-11-21T08:00:00Z' })).status).toBe(200);
    expect((await report({ kind: 'terminate', at: 'soon' })).status).toBe(422);
  });
});

describe('the keys of identity documents', () => {
  it('may be the certificates that AWS publishes', async () => {
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
    const pair = await crypto.subtle.generateKey(
      { ...algorithm, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
      true,
      ['sign', 'verify'],
    );
    const certificate = await X509CertificateGenerator.createSelfSigned({
      name: 'C=US, O=Amazon Web Services LLC',
      keys: pair,
      signingAlgorithm: algorithm,
    });
    const keys = parseIdentityKeys({ 'eu-central-1': certificate.toString('pem') });
    const { document } = identityOf();
    const signed = await crypto.subtle.sign(algorithm, pair.privateKey, Buffer.from(document));
    // In lines, as the metadata service returns it.
    const signature = Buffer.from(signed)
      .toString('base64')
      .replace(/(.{64})/g, '$1\n');
    expect(verifyIdentity(keys, { document, signature })).toMatchObject({ instanceId: own });
    expect(verifyIdentity(identityKeys, { document, signature })).toHaveProperty('problem');
  });

  it('are of RSA, by region', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const wrong = { 'eu-central-1': publicKey.export({ type: 'spki', format: 'pem' }).toString() };
    expect(() => parseIdentityKeys(wrong)).toThrow('not an RSA key');
    expect(() => parseIdentityKeys({ Frankfurt: pem(cloud) })).toThrow('Frankfurt');
  });
});

describe('the agent as a download', () => {
  it('is served by its hash without a token, forever', async () => {
    const api = await createTestApi();
    const program = new TextEncoder().encode('console.log("agent")\n');
    const sha256 = await publishProgram(api.objects, program);
    expect(sha256).toBe(createHash('sha256').update(program).digest('hex'));
    const answer = await api.call('GET', `/v1/agent/program/${sha256}`, { token: null });
    expect([answer.status, answer.headers.get('cache-control'), answer.headers.get('content-type')]).toEqual([
      200,
      'public, max-age=31536000, immutable',
      'text/javascript',
    ]);
    expect(await answer.text()).toBe('console.log("agent")\n');
    // A later version removes no earlier one.
    await publishProgram(api.objects, new TextEncoder().encode('console.log("newer")\n'));
    expect((await api.call('GET', `/v1/agent/program/${sha256}`, { token: null })).status).toBe(200);
  });

  it('is not there under other names, or when its bytes are not what they should be', async () => {
    const api = await createTestApi();
    const get = async (name: string) => (await api.call('GET', `/v1/agent/program/${name}`, { token: null })).status;
    expect(await get('0'.repeat(64))).toBe(404);
    expect(await get('..%2fkeys.json')).toBe(422);
    await api.objects.put(`programs/${'1'.repeat(64)}.mjs`, new TextEncoder().encode('damaged'));
    expect(await get('1'.repeat(64))).toBe(404);
  });
});
