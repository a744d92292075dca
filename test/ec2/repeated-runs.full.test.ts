// Where fleets are not allowed, a launch is many calls, and any of their answers may be lost. For every capacity of a pool at
// first and at the repeat, every lost answer and every process: no repeat launches twice, and the result of a launch names
// exactly the live instances. Oracle: the emulated cloud, which shows instances late.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createAwsProvider } from '../../providers/aws/provider.ts';
import type { Provider } from '../../providers/provider.ts';
import { freshOwner, placement, startCloud, workersRequest } from '../providers/aws-cloud.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';

const asked = 2;
const unseenMs = 150;
/** Of the zones a, b and c. */
const firsts = [
  [0, 2, 2],
  [0, 0, 2],
  [1, 1, 1],
];
const laters = [
  [4, 4, 4],
  [0, 4, 4],
];
const cases = firsts.flatMap((first) =>
  laters.flatMap((later) =>
    [1, 2, 3].flatMap((nth) =>
      // The cut call has launched no instance that could appear late.
      (
        [
          ['lost', 100],
          ['lost', 0],
          ['cut', 0],
        ] as const
      ).map(([kind, visibleMs]) => ({ first, later, nth, kind, visibleMs })),
    ),
  ),
);

describe('a launch without fleets that is repeated', () => {
  let cloud: TestCloud;
  let provider: () => Provider;
  beforeEach(async () => {
    cloud = await startCloud();
    // Each try by a process without any cached state.
    provider = () => createAwsProvider({ ...cloud.options, unseenMs });
  });
  afterEach(() => cloud.close());

  const capacities = async (instances: number[]): Promise<void> => {
    for (const [at, letter] of ['a', 'b', 'c'].entries()) {
      const pool = `m6i.large/us-east-1${letter}/on-demand`;
      await cloud.emulator.send({ op: 'capacity', pool, instances: instances[at] ?? 0 });
    }
  };
  const live = async (): Promise<string[]> => (await cloud.emulator.ledger()).live.toSorted();
  const noFleets = async (): Promise<void> => {
    await cloud.emulator.send({ op: 'clearFaults' });
    const refused = { kind: 'error', code: 'UnauthorizedOperation', status: 403, times: 1_000 } as const;
    await cloud.emulator.send({ op: 'fault', fault: { action: 'CreateFleet', ...refused } });
  };
  const request = (oneZone: boolean) => {
    const wanted = workersRequest(freshOwner(), asked);
    return { ...wanted, placement: { head: placement(), worker: placement(), oneZone } };
  };

  it.each([{ oneZone: true }, { oneZone: false }])(
    'never launches more than requested, and reports all that it launched (one zone: $oneZone)',
    async ({ oneZone }) => {
      for (const { first, later, nth, kind, visibleMs } of cases) {
        const where = JSON.stringify({ first, later, nth, kind, visibleMs });
        await noFleets();
        await cloud.emulator.send({ op: 'delays', visibleMs });
        await capacities(first);
        await cloud.emulator.send({ op: 'fault', fault: { action: 'RunInstances', nth, kind } });
        const mine = request(oneZone);
        const answered = await provider()
          .launch(mine)
          .catch(() => null);
        await noFleets();
        await capacities(later);
        const { launched, failures } = answered ?? (await provider().launch(mine));
        const ids = launched.map(({ id }) => id).toSorted();
        expect([where, ids]).toEqual([where, await live()]);
        const missing = failures.reduce((sum, { count }) => sum + count, 0);
        expect([where, launched.length + missing]).toEqual([where, asked]);
        if (oneZone) expect(new Set(launched.map(({ zone }) => zone)).size).toBeLessThanOrEqual(1);
        for (const id of ids) await cloud.emulator.send({ op: 'die', id });
      }
    },
  );

  it('has every instance again, and calls EC2 for no new one, when its own answer was lost', async () => {
    await noFleets();
    await cloud.emulator.send({ op: 'delays', visibleMs: 0 });
    await capacities([0, 1, 1]);
    const mine = request(false);
    const first = await provider().launch(mine);
    expect(first.launched).toHaveLength(asked);
    await capacities([4, 4, 4]);
    const before = (await cloud.emulator.counts()).calls['RunInstances'];
    expect((await provider().launch(mine)).launched).toEqual(first.launched);
    expect((await cloud.emulator.counts()).calls['RunInstances']).toBe(before);
  });
});
