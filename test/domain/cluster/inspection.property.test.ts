// What is asked about instances that nobody hears of, against 3,000 random worlds. A failure prints its seed and the smallest
// world that breaks a rule.
import { expect, it } from 'vitest';

import * as apply from '../../../domain/cluster/apply.ts';
import * as create from '../../../domain/cluster/create.ts';
import * as giveBack from '../../../domain/cluster/give-back.ts';
import * as plan from '../../../domain/cluster/plan.ts';
import * as requests from '../../../domain/cluster/requests.ts';
import * as view from '../../../domain/cluster/view.ts';
import { checkInspectionWorlds } from '../../builders/inspection-world.ts';
import { describeShares } from '../../builders/worlds.ts';

it('finds the dead that nobody misses, at a bounded price, in every world', { timeout: 240_000 }, () => {
  const shares = checkInspectionWorlds(
    { ...apply, ...create, ...giveBack, ...plan, ...requests, ...view },
    { numRuns: 3_000 },
  );
  console.log(`inspection worlds reached: ${describeShares(shares)}`);
  for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
});
