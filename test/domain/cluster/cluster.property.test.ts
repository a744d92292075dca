// The cluster's rules against 10,000 simulations. A failure prints its seed and the smallest simulation that breaks a rule.
import { expect, it } from 'vitest';

import * as apply from '../../../domain/cluster/apply.ts';
import * as inspect from '../../../domain/cluster/instance/inspect.ts';
import * as create from '../../../domain/cluster/create.ts';
import * as releaseInstances from '../../../domain/cluster/slot/release.ts';
import * as plan from '../../../domain/cluster/plan.ts';
import * as requests from '../../../domain/cluster/requests.ts';
import * as view from '../../../domain/cluster/status.ts';
import { checkClusterSimulations } from '../../builders/cluster-simulation.ts';
import { describeShares, simulationTimeoutMs } from '../../builders/simulations.ts';

it('keeps its promises in every simulation', { timeout: simulationTimeoutMs }, () => {
  const shares = checkClusterSimulations(
    { ...apply, ...inspect, ...create, ...releaseInstances, ...plan, ...requests, ...view },
    { numRuns: 10_000 },
  );
  console.log(`cluster simulations reached: ${describeShares(shares)}`);
  for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
});
