// The rules of waiting for capacity against simulations. A failure prints its seed and the smallest simulation that breaks one.
import { expect, it } from 'vitest';

import * as apply from '../../../domain/cluster/apply.ts';
import * as inspect from '../../../domain/cluster/instance/inspect.ts';
import * as capacity from '../../../domain/cluster/capacity/wait.ts';
import * as create from '../../../domain/cluster/create.ts';
import * as releaseInstances from '../../../domain/cluster/slot/release.ts';
import * as plan from '../../../domain/cluster/plan.ts';
import * as requests from '../../../domain/cluster/requests.ts';
import * as view from '../../../domain/cluster/status.ts';
import { checkCapacitySimulations } from '../../builders/capacity-simulation.ts';
import { describeShares, simulationTimeoutMs } from '../../builders/simulations.ts';

it('keeps its promises in every simulation', { timeout: simulationTimeoutMs }, () => {
  const rules = { ...apply, ...inspect, ...capacity, ...create, ...releaseInstances, ...plan, ...requests, ...view };
  const shares = checkCapacitySimulations(rules, { numRuns: 2_000 });
  console.log(`capacity simulations reached: ${describeShares(shares)}`);
  expect(Object.entries(shares).filter(([, share]) => share < 0.05)).toEqual([]);
});
