// The rules of Dask clusters against 10,000 simulations. A failure prints its seed and the smallest simulation that breaks one.
import { expect, it } from 'vitest';

import * as apply from '../../../domain/cluster/apply.ts';
import * as inspect from '../../../domain/cluster/instance/inspect.ts';
import * as adaptive from '../../../domain/cluster/dask/adaptive.ts';
import * as create from '../../../domain/cluster/create.ts';
import * as dask from '../../../domain/cluster/dask/report.ts';
import * as orders from '../../../domain/cluster/orders.ts';
import * as releaseInstances from '../../../domain/cluster/slot/release.ts';
import * as plan from '../../../domain/cluster/plan.ts';
import * as requests from '../../../domain/cluster/requests.ts';
import * as view from '../../../domain/cluster/status.ts';
import { checkDaskSimulations } from '../../builders/dask-simulation.ts';
import { describeShares, simulationTimeoutMs } from '../../builders/simulations.ts';

it('keeps its promises in every simulation', { timeout: simulationTimeoutMs }, () => {
  const rules = {
    ...apply,
    ...adaptive,
    ...inspect,
    ...create,
    ...releaseInstances,
    ...dask,
    ...orders,
    ...plan,
    ...requests,
    ...view,
  };
  const shares = checkDaskSimulations(rules, { numRuns: 10_000 });
  console.log(`dask simulations reached: ${describeShares(shares)}`);
  expect(Object.entries(shares).filter(([, share]) => share < 0.05)).toEqual([]);
});
