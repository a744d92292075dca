// The instances that a cluster inspects and loses, against 3,000 simulations of agents, clouds and API outages. A failure prints
// its seed and the smallest simulation that breaks a rule.
import { expect, it } from 'vitest';

import * as apply from '../../../domain/cluster/apply.ts';
import * as inspect from '../../../domain/cluster/instance/inspect.ts';
import * as create from '../../../domain/cluster/create.ts';
import * as releaseInstances from '../../../domain/cluster/slot/release.ts';
import * as plan from '../../../domain/cluster/plan.ts';
import * as requests from '../../../domain/cluster/requests.ts';
import * as view from '../../../domain/cluster/status.ts';
import { checkLivenessSimulations } from '../../builders/liveness-simulation.ts';
import { describeShares, simulationTimeoutMs } from '../../builders/simulations.ts';

it(
  'finds dead instances in time, loses none to an outage of the API, and inspects none on a calm day',
  { timeout: simulationTimeoutMs },
  () => {
    const rules = { ...apply, ...inspect, ...create, ...releaseInstances, ...plan, ...requests, ...view };
    const shares = checkLivenessSimulations(rules, { numRuns: 3_000 });
    console.log(`liveness simulations reached: ${describeShares(shares)}`);
    for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
  },
);
