import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';

import {
  dashboardLinkTtlMs,
  dashboardSessionTtlMs,
  instanceTokenTtlMs,
  launchTokenTtlMs,
  expiredTokenGraceMs,
} from '../../domain/tokens/limits.ts';
import { createTokens } from '../../platform/tokens.ts';
import { keySet, testKeys } from './support.ts';

const launch = { workspace: 'default', cluster: 12, seq: 3 };
const instance = { workspace: 'default', cluster: 12, job: 12, instance: 'i_0123456789abcdef' };
const startMs = 1_800_000_000_000;
const refused = { problem: { code: 'UNAUTHENTICATED' } };

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('agent tokens', () => {
  it('carry their claims, and say when they expire', async () => {
    const tokens = createTokens(testKeys(), () => startMs);
    expect(await tokens.verifyLaunch(await tokens.mintLaunch(launch))).toEqual(launch);
    const minted = await tokens.mintInstance(instance);
    const expiresAtMs = startMs + instanceTokenTtlMs;
    expect(Date.parse(minted.expiresAt)).toBe(expiresAtMs);
    expect(await tokens.verifyInstance(minted.instanceToken)).toEqual({ ...instance, expiresAtMs });
  });

  it('carry no job for a cluster of its own', async () => {
    const tokens = createTokens(testKeys());
    const { instanceToken } = await tokens.mintInstance({ ...instance, job: null });
    expect((await tokens.verifyInstance(instanceToken)).job).toBeNull();
  });

  it('stay valid when a new key becomes the current one', async () => {
    const token = await createTokens(testKeys()).mintLaunch(launch);
    const rotated = createTokens(testKeys({ kid: 'k2', seed: 2, others: [keySet('k1', 1)] }));
    expect(await rotated.verifyLaunch(token)).toEqual(launch);
  });

  it('are refused when expired', async () => {
    let nowMs = startMs;
    const tokens = createTokens(testKeys(), () => nowMs);
    const token = await tokens.mintLaunch(launch);
    nowMs += launchTokenTtlMs - 1_000;
    await tokens.verifyLaunch(token);
    nowMs += 1_000;
    await expect(tokens.verifyLaunch(token)).rejects.toMatchObject(refused);
  });

  it('are refused for another audience, both ways', async () => {
    const tokens = createTokens(testKeys());
    const { instanceToken } = await tokens.mintInstance(instance);
    await expect(tokens.verifyLaunch(instanceToken)).rejects.toMatchObject(refused);
    await expect(tokens.verifyInstance(await tokens.mintLaunch(launch))).rejects.toMatchObject(refused);
  });

  it('let an instance come back with its own, once that has expired and while it is not too old', async () => {
    let nowMs = startMs;
    const tokens = createTokens(testKeys(), () => nowMs);
    const { instanceToken } = await tokens.mintInstance(instance);
    const forged = createTokens(testKeys({ kid: 'k1', seed: 9 }), () => nowMs).mintInstance(instance);
    const { workspace, cluster, instance: returning } = instance;
    nowMs += instanceTokenTtlMs;
    expect(await tokens.verifyLaunch(instanceToken)).toEqual({ workspace, cluster, seq: 0, returning });
    await expect(tokens.verifyInstance(instanceToken)).rejects.toMatchObject(refused);
    await expect(tokens.verifyLaunch((await forged).instanceToken)).rejects.toMatchObject(refused);
    nowMs += expiredTokenGraceMs - 1_000;
    await tokens.verifyLaunch(instanceToken);
    nowMs += 1_000;
    await expect(tokens.verifyLaunch(instanceToken)).rejects.toMatchObject(refused);
  });

  const claims = { ...instance, iss: 'ropewalk', aud: 'instance', iat: 1_800_000_000, exp: 1_800_003_600 };
  const sign = (payload: object, header: { alg: string; kid?: string }, key: Uint8Array) =>
    new SignJWT({ ...payload }).setProtectedHeader(header).sign(key);
  const own = testKeys().current.tokens;
  const { exp: _exp, ...withoutExpiry } = claims;
  const { instance: _instance, ...withoutInstance } = claims;

  it.each([
    ['alg none', () => `${base64({ alg: 'none', kid: 'k1' })}.${base64(claims)}.`],
    ['alg none in capitals', () => `${base64({ alg: 'NONE', kid: 'k1' })}.${base64(claims)}.`],
    ['another HMAC', () => sign(claims, { alg: 'HS512', kid: 'k1' }, new Uint8Array(64).fill(65))],
    ['another key', () => sign(claims, { alg: 'HS256', kid: 'k1' }, new Uint8Array(32).fill(9))],
    ['an unknown key id', () => sign(claims, { alg: 'HS256', kid: 'k9' }, own)],
    ['no key id', () => sign(claims, { alg: 'HS256' }, own)],
    ['no expiry', () => sign(withoutExpiry, { alg: 'HS256', kid: 'k1' }, own)],
    ['another issuer', () => sign({ ...claims, iss: 'someone' }, { alg: 'HS256', kid: 'k1' }, own)],
    ['no instance', () => sign(withoutInstance, { alg: 'HS256', kid: 'k1' }, own)],
    ['a number for a name', () => sign({ ...claims, workspace: 7 }, { alg: 'HS256', kid: 'k1' }, own)],
    ['no dots', () => 'hello'],
    ['nothing', () => ''],
  ])('are refused with %s', async (_name, make) => {
    const tokens = createTokens(testKeys(), () => startMs + 1_000);
    await expect(tokens.verifyInstance(await make())).rejects.toMatchObject(refused);
  });

  it('are refused with a changed payload, and the sound one they were made from is accepted', async () => {
    const tokens = createTokens(testKeys(), () => startMs + 1_000);
    const sound = await sign(claims, { alg: 'HS256', kid: 'k1' }, own);
    await tokens.verifyInstance(sound);
    const [header, , signature] = sound.split('.');
    const forged = `${header}.${base64({ ...claims, workspace: 'other' })}.${signature}`;
    await expect(tokens.verifyInstance(forged)).rejects.toMatchObject(refused);
  });
});

describe('dashboard tokens', () => {
  const claims = { workspace: 'default', cluster: 12, user: 'ada', tokenId: 'tok000000001' };

  it('carry their claims for as long as they say', async () => {
    let nowMs = startMs;
    const tokens = createTokens(testKeys(), () => nowMs);
    const link = await tokens.mintDashboard(claims);
    const session = await tokens.mintDashboardSession(claims);
    expect(link.expiresAtMs).toBe(startMs + dashboardLinkTtlMs);
    expect(session.expiresAtMs).toBe(startMs + dashboardSessionTtlMs);
    nowMs = link.expiresAtMs - 1_000;
    expect(await tokens.verifyDashboard(link.token)).toEqual(claims);
    nowMs = link.expiresAtMs;
    await expect(tokens.verifyDashboard(link.token)).rejects.toMatchObject(refused);
    expect(await tokens.verifyDashboardSession(session.token)).toEqual({ ...claims, expiresAtMs: session.expiresAtMs });
    nowMs = session.expiresAtMs;
    await expect(tokens.verifyDashboardSession(session.token)).rejects.toMatchObject(refused);
  });

  it('pass for nothing else, and nothing else for them', async () => {
    const tokens = createTokens(testKeys());
    const minted = {
      verifyLaunch: await tokens.mintLaunch(launch),
      verifyInstance: (await tokens.mintInstance(instance)).instanceToken,
      verifyDashboard: (await tokens.mintDashboard(claims)).token,
      verifyDashboardSession: (await tokens.mintDashboardSession(claims)).token,
    };
    const verifiers = ['verifyLaunch', 'verifyInstance', 'verifyDashboard', 'verifyDashboardSession'] as const;
    for (const verify of verifiers) {
      for (const made of verifiers) {
        const attempt = tokens[verify](minted[made]);
        if (verify === made) await attempt;
        else await expect(attempt).rejects.toMatchObject(refused);
      }
    }
  });
});
