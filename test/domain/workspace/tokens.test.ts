// Tokens under any sequence of issuing and revoking: the first use of an id wins, and revoked stays revoked.
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { createWorkspaceState } from '../../../domain/workspace/create.ts';
import { issueToken, revokeToken } from '../../../domain/workspace/tokens.ts';
import { keepOverTokenMs, maxUserTokens, maxWorkspaceTokens } from '../../../domain/limits.ts';

const id = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  fc.record({ do: fc.constant('issue'), id, sha256: fc.constantFrom('1', '2') }),
  fc.record({ do: fc.constant('revoke'), id }),
);

it('the first issue of an id wins, and revoked is for ever', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const state = createWorkspaceState({ slug: 'w', deploymentId: 'd', createdAtMs: 0, block: { next: 1, end: 9 } });
      const known = new Map<string, { sha256: string; revokedAtMs: number | null }>();
      for (const [nowMs, each] of steps.entries()) {
        const first = known.get(each.id);
        if (each.do === 'issue') {
          const token = { id: each.id, sha256: each.sha256, user: 'u', scopes: [], expiresAtMs: null };
          const isAccepted = first === undefined || first.sha256 === each.sha256;
          expect('ok' in issueToken(state, token, nowMs)).toBe(isAccepted);
          if (first === undefined) known.set(each.id, { sha256: each.sha256, revokedAtMs: null });
        } else {
          expect('ok' in revokeToken(state, each.id, nowMs)).toBe(first !== undefined);
          if (first !== undefined) first.revokedAtMs ??= nowMs;
        }
        const kept = state.tokens.map((token) => [token.id, { sha256: token.sha256, revokedAtMs: token.revokedAtMs }]);
        expect(kept).toEqual([...known]);
      }
    }),
    { numRuns: 2_000 },
  );
});

const empty = () => createWorkspaceState({ slug: 'w', deploymentId: 'd', createdAtMs: 0, block: { next: 1, end: 9 } });
const token = (id: string, user: string) => ({ id, sha256: 'a', user, scopes: [], expiresAtMs: null });

it('those that are over make room for others when it is wanted, an hour after their end', () => {
  const state = empty();
  for (let n = 0; n < maxUserTokens; n += 1) issueToken(state, token(`t${n}`, 'ci'), n);
  for (let n = 0; n < maxUserTokens; n += 1) revokeToken(state, `t${n}`, 10_000 + n);
  const early = 10_000 + keepOverTokenMs - 1;
  expect(issueToken(state, token('early', 'ci'), early)).toMatchObject({ error: { code: 'LIMIT_EXCEEDED' } });
  expect(issueToken(state, token('late', 'ci'), early + 1)).toHaveProperty('ok');
  expect(state.tokens.map(({ id }) => id)).toEqual(expect.not.arrayContaining(['t0']));
  expect(state.tokens).toHaveLength(maxUserTokens);
});

it('one user’s tokens keep nobody else from signing in', () => {
  const state = empty();
  const refused = Array.from({ length: maxWorkspaceTokens }, (_, n) =>
    issueToken(state, token(`t${n}`, 'ci'), n),
  ).filter((answer) => 'error' in answer);
  expect(refused).toHaveLength(maxWorkspaceTokens - maxUserTokens);
  expect(issueToken(state, token('ada', 'ada'), 2_000)).toHaveProperty('ok');
});

it('the whole workspace has a bound as well, and tokens that live are never dropped for it', () => {
  const state = empty();
  for (let n = 0; n < maxWorkspaceTokens; n += 1) issueToken(state, token(`t${n}`, `u${n % 10}`), n);
  expect(issueToken(state, token('more', 'ada'), 1e12)).toMatchObject({ error: { code: 'LIMIT_EXCEEDED' } });
  expect(state.tokens).toHaveLength(maxWorkspaceTokens);
});
