// The healing's rules against 10,000 random worlds. A failure prints its seed and the smallest world that breaks a rule.
import { expect, it } from 'vitest';

import * as rules from '../../../domain/heal/decide.ts';
import { checkHealWorlds } from '../../builders/heal-world.ts';
import { describeShares } from '../../builders/worlds.ts';

it('resets what the known fault stopped, and nothing else, in every world', { timeout: 120_000 }, () => {
  const shares = checkHealWorlds(rules, { numRuns: 10_000 });
  console.log(`heal worlds reached: ${describeShares(shares)}`);
  for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
});
