// The sweep's rules against 10,000 random worlds. A failure prints its seed and the smallest world that breaks a rule.
import { expect, it } from 'vitest';

import * as rules from '../../../domain/sweep/decide.ts';
import { checkSweepWorlds } from '../../builders/sweep-world.ts';
import { describeShares } from '../../builders/worlds.ts';

it('ends orphans, and nobody else, in every world', { timeout: 240_000 }, () => {
  const shares = checkSweepWorlds(rules, { numRuns: 10_000 });
  console.log(`sweep worlds reached: ${describeShares(shares)}`);
  for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
});
