// A token cache saves work and changes no result: an expired or changed token is refused as if nothing were cached.
import { describe, expect, it } from 'vitest';

import { instanceTokenTtlMs } from '../../domain/tokens/limits.ts';
import { rememberInstanceTokens } from '../../platform/remembered-tokens.ts';
import { createTokens } from '../../platform/tokens.ts';
import type { Tokens } from '../../platform/tokens.ts';
import { testKeys } from './support.ts';

describe('remembered instance tokens', () => {
  const claims = { workspace: 'default', cluster: 7, job: 7, instance: 'i_00000000' };
  const make = async (): Promise<{ tokens: Tokens; checks: () => number; clock: { nowMs: number } }> => {
    const clock = { nowMs: Date.parse('2026-11-21T00:00:00Z') };
    const plain = createTokens(testKeys(), () => clock.nowMs);
    let checks = 0;
    const counted: Tokens = {
      ...plain,
      verifyInstance: (token) => {
        checks += 1;
        return plain.verifyInstance(token);
      },
    };
    return { tokens: rememberInstanceTokens(counted, () => clock.nowMs), checks: () => checks, clock };
  };

  it('are checked once, and refused when they have expired', async () => {
    const { tokens, checks, clock } = await make();
    const { instanceToken } = await tokens.mintInstance(claims);
    const first = await tokens.verifyInstance(instanceToken);
    expect(first).toMatchObject(claims);
    expect(await tokens.verifyInstance(instanceToken)).toEqual(first);
    expect(checks()).toBe(1);
    clock.nowMs += instanceTokenTtlMs + 1_000;
    await expect(tokens.verifyInstance(instanceToken)).rejects.toMatchObject({ problem: { code: 'UNAUTHENTICATED' } });
    expect(checks()).toBe(2);
  });

  it('do not let a changed token, or one that was refused before, pass', async () => {
    const { tokens, checks } = await make();
    const { instanceToken } = await tokens.mintInstance(claims);
    await tokens.verifyInstance(instanceToken);
    const [head = '', , signature = ''] = instanceToken.split('.');
    const payload = Buffer.from(JSON.stringify({ ...claims, cluster: 8 })).toString('base64url');
    const forged = [head, payload, signature].join('.');
    for (let tries = 0; tries < 2; tries += 1) {
      await expect(tokens.verifyInstance(forged)).rejects.toMatchObject({ problem: { code: 'UNAUTHENTICATED' } });
    }
    expect(checks()).toBe(3);
  });

  it('hand out copies: a caller that changes one does not change the cache', async () => {
    const { tokens } = await make();
    const { instanceToken } = await tokens.mintInstance(claims);
    const given = await tokens.verifyInstance(instanceToken);
    given.workspace = 'other';
    expect((await tokens.verifyInstance(instanceToken)).workspace).toBe('default');
  });
});
