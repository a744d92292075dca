// The sweep's rules against 10,000 simulations. A failure prints its seed and the smallest simulation that breaks a rule.
import { expect, it } from 'vitest';

import * as rules from '../../../domain/sweep/decide.ts';
import { checkSweepSimulations } from '../../builders/sweep-simulation.ts';
import { describeShares, simulationTimeoutMs } from '../../builders/simulations.ts';

it('ends orphans, and no other instance, in every simulation', { timeout: simulationTimeoutMs }, () => {
  const shares = checkSweepSimulations(rules, { numRuns: 10_000 });
  console.log(`sweep simulations reached: ${describeShares(shares)}`);
  for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
});
