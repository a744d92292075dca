// The rules of people, limits and shares against random worlds. A failure prints its seed and the smallest world.
import { expect, it } from 'vitest';

import * as admit from '../../../domain/workspace/admit.ts';
import * as create from '../../../domain/workspace/create.ts';
import * as holders from '../../../domain/workspace/holders.ts';
import * as shares from '../../../domain/workspace/shares.ts';
import * as tokens from '../../../domain/workspace/tokens.ts';
import * as users from '../../../domain/workspace/users.ts';
import { checkPeopleWorlds } from '../../builders/people-world.ts';
import { describeShares } from '../../builders/worlds.ts';

it('keeps its promises in every world', { timeout: 240_000 }, () => {
  const rules = { ...admit, ...create, ...holders, ...shares, ...tokens, ...users };
  const reached = checkPeopleWorlds(rules, { numRuns: 10_000 });
  console.log(`people worlds reached: ${describeShares(reached)}`);
  for (const share of Object.values(reached)) expect(share).toBeGreaterThanOrEqual(0.05);
});
