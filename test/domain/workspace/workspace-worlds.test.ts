// The workspace's rules against 10,000 random worlds. A failure prints its seed and the smallest world that breaks a rule.
import { expect, it } from 'vitest';

import * as admit from '../../../domain/workspace/admit.ts';
import * as create from '../../../domain/workspace/create.ts';
import * as holders from '../../../domain/workspace/holders.ts';
import * as shares from '../../../domain/workspace/shares.ts';
import * as tokens from '../../../domain/workspace/tokens.ts';
import * as users from '../../../domain/workspace/users.ts';
import { checkWorkspaceWorlds } from '../../builders/workspace-world.ts';
import { describeShares } from '../../builders/worlds.ts';

it('keeps its promises in every world', { timeout: 240_000 }, () => {
  const reached = checkWorkspaceWorlds(
    { ...admit, ...create, ...holders, ...shares, ...tokens, ...users },
    { numRuns: 10_000 },
  );
  console.log(`workspace worlds reached: ${describeShares(reached)}`);
  for (const share of Object.values(reached)) expect(share).toBeGreaterThanOrEqual(0.05);
});
