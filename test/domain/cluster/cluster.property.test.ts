// The cluster's rules against 10,000 random worlds. A failure prints its seed and the smallest world that breaks a rule.
import { expect, it } from 'vitest';

import * as apply from '../../../domain/cluster/apply.ts';
import * as inspect from '../../../domain/cluster/instance/inspect.ts';
import * as create from '../../../domain/cluster/create.ts';
import * as releaseInstances from '../../../domain/cluster/slot/release.ts';
import * as plan from '../../../domain/cluster/plan.ts';
import * as requests from '../../../domain/cluster/requests.ts';
import * as view from '../../../domain/cluster/status.ts';
import { checkClusterWorlds } from '../../builders/cluster-world.ts';
import { describeShares } from '../../builders/worlds.ts';

it('keeps its promises in every world', { timeout: 240_000 }, () => {
  const shares = checkClusterWorlds(
    { ...apply, ...inspect, ...create, ...releaseInstances, ...plan, ...requests, ...view },
    { numRuns: 10_000 },
  );
  console.log(`cluster worlds reached: ${describeShares(shares)}`);
  for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
});
