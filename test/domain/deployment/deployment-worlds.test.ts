// The deployment's rules against 10,000 random worlds. A failure prints its seed and the smallest world that breaks a rule.
import { expect, it } from 'vitest';

import * as rules from '../../../domain/deployment/rules.ts';
import { checkDeploymentWorlds } from '../../builders/deployment-world.ts';
import { describeShares } from '../../builders/worlds.ts';

it('keeps its promises in every world', { timeout: 240_000 }, () => {
  const shares = checkDeploymentWorlds(rules, { numRuns: 10_000 });
  console.log(`deployment worlds reached: ${describeShares(shares)}`);
  for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
});
