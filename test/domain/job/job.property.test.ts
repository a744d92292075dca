// The job's rules against 10,000 simulations. A failure prints its seed and the smallest simulation that breaks a rule.
import { expect, it } from 'vitest';

import * as create from '../../../domain/job/create.ts';
import * as events from '../../../domain/job/events.ts';
import * as exchange from '../../../domain/job/exchange.ts';
import * as shrink from '../../../domain/job/shrink.ts';
import * as view from '../../../domain/job/summary.ts';
import { checkJobSimulations } from '../../builders/job-simulation.ts';
import { describeShares, simulationTimeoutMs } from '../../builders/simulations.ts';

it('keeps its promises in every simulation', { timeout: simulationTimeoutMs }, () => {
  const shares = checkJobSimulations({ ...create, ...events, ...exchange, ...shrink, ...view }, { numRuns: 10_000 });
  console.log(`job simulations reached: ${describeShares(shares)}`);
  for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
});
