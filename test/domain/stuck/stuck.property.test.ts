// The rules of automatic resets against 10,000 simulations. A failure prints its seed and the smallest simulation that breaks a rule.
import { expect, it } from 'vitest';

import * as rules from '../../../domain/stuck/decide.ts';
import { checkStuckSimulations } from '../../builders/stuck-simulation.ts';
import { describeShares, simulationTimeoutMs } from '../../builders/simulations.ts';

it(
  'resets what the known fault stopped, and nothing else, in every simulation',
  { timeout: simulationTimeoutMs },
  () => {
    const shares = checkStuckSimulations(rules, { numRuns: 10_000 });
    console.log(`stuck simulations reached: ${describeShares(shares)}`);
    for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
  },
);
