// Tokens under any sequence of issuing and revoking: the first use of an id wins, and revoked stays revoked.
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { createWorkspaceState } from '../../../domain/workspace/create.ts';
import { issueToken, revokeToken } from '../../../domain/workspace/tokens.ts';

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
