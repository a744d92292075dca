// A workspace's looks at its open workflows, in 10,000 random worlds. A failure prints its seed and the smallest world.
import { expect, it } from 'vitest';

import * as create from '../../../domain/workspace/create.ts';
import * as holders from '../../../domain/workspace/holders.ts';
import * as reconcile from '../../../domain/workspace/reconcile.ts';
import { checkLookWorlds } from '../../builders/look-world.ts';
import { describeShares } from '../../builders/worlds.ts';

it('takes nothing for gone that was not seen gone twice, and misses nothing that was', { timeout: 240_000 }, () => {
  const shares = checkLookWorlds({ ...create, ...holders, ...reconcile }, { numRuns: 10_000 });
  console.log(`look worlds reached: ${describeShares(shares)}`);
  for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
});
