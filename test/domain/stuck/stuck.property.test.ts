// The rules of automatic resets against 10,000 simulations. A failure prints its seed and the smallest world that breaks a rule.
import { expect, it } from 'vitest';

import * as rules from '../../../domain/stuck/decide.ts';
import { checkStuckWorlds } from '../../builders/stuck-world.ts';
import { describeShares } from '../../builders/worlds.ts';

it('resets what the known fault stopped, and nothing else, in every world', { timeout: 120_000 }, () => {
  const shares = checkStuckWorlds(rules, { numRuns: 10_000 });
  console.log(`stuck worlds reached: ${describeShares(shares)}`);
  for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
});
