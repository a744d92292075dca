// The promises of a provider, as a suite that every provider passes.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { resourcesContract } from './contract-resources.ts';
import type {
  LaunchOutcome,
  LaunchRequest,
  ObservedInstance,
  ObservedState,
  Owner,
  Provider,
} from '../../providers/provider.ts';

export interface ProviderHarness {
  provider: Provider;
  /** An owner that no test has used. */
  freshOwner(): Owner;
  /** A request for this many working instances. Default: a new token. */
  request(owner: Owner, instances: number, token?: string): LaunchRequest;
  /** The same launch from another process, which shares only the cloud with this one. */
  launchElsewhere(request: LaunchRequest): Promise<LaunchOutcome>;
  /** Instances that fit at the same time. */
  capacity: number;
  /** The instance crashes. */
  crash(id: string): Promise<void>;
  /** Waits for processes on these instances that left their process group and session; the returned function is true while any of them runs. */
  startStubbornWork(ids: string[]): Promise<() => Promise<boolean>>;
  /** Creates a cloud resource of this owner that no instance uses, and returns its id; null for a provider without such resources. */
  leaveBehind: ((owner: Owner) => Promise<string>) | null;
  /** Polls until true. */
  until(condition: () => Promise<boolean>): Promise<void>;
  cleanUp(): Promise<void>;
}

/** Runs the suite; `make` creates a provider for each test. */
export function providerContract(name: string, make: () => Promise<ProviderHarness>): void {
  describe(`provider ${name}`, () => {
    let cloud: ProviderHarness;
    let owner: Owner;
    beforeEach(async () => {
      cloud = await make();
      owner = cloud.freshOwner();
    });
    afterEach(() => cloud.cleanUp());

    const launch = (instances: number): Promise<LaunchOutcome> =>
      cloud.provider.launch(cloud.request(owner, instances));
    const terminate = (ids: string[], as: Owner = owner): Promise<void> =>
      cloud.provider.terminate(as, ids, AbortSignal.timeout(30_000));
    const stateOf = async (id: string): Promise<ObservedState | undefined> =>
      (await cloud.provider.describe(owner, [id])).find((instance) => instance.id === id)?.state;

    describe('a launch', () => {
      it('gives the same instances for the same token', async () => {
        const request = cloud.request(owner, 2);
        const first = await cloud.provider.launch(request);
        expect(first.failures).toEqual([]);
        expect(first.launched.map((instance) => instance.slot)).toEqual(request.slots.map(({ slot }) => slot));
        expect(await cloud.provider.launch(request)).toEqual(first);
        expect(idsOf(await cloud.provider.describe(owner, []))).toEqual(idsOf(first.launched));
      });

      it('gives the same instances to concurrent launches, of this process and others, as many as fit', async () => {
        const request = cloud.request(owner, cloud.capacity + 1);
        const outcomes = await Promise.all([
          cloud.provider.launch(request),
          cloud.launchElsewhere(request),
          cloud.provider.launch(request),
          cloud.launchElsewhere(request),
        ]);
        for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
        expect(outcomes[0]?.launched).toHaveLength(cloud.capacity);
        await cloud.until(async () => (await cloud.provider.describe(owner, [])).every(isRunning));
        expect(idsOf(await cloud.provider.describe(owner, []))).toEqual(idsOf(outcomes[0]?.launched ?? []));
      });

      it('gives other instances for another token', async () => {
        const ids = [...idsOf((await launch(1)).launched), ...idsOf((await launch(1)).launched)];
        expect(new Set(ids).size).toBe(2);
        expect(idsOf(await cloud.provider.describe(owner, []))).toEqual(ids.sort());
      });

      it('accounts for every requested instance when not all fit', async () => {
        const request = cloud.request(owner, cloud.capacity + 2);
        const outcome = await cloud.provider.launch(request);
        const failed = outcome.failures.reduce((sum, failure) => sum + failure.count, 0);
        expect([outcome.launched.length, failed]).toEqual([cloud.capacity, 2]);
        for (const failure of outcome.failures) expect(failure.text.length).toBeGreaterThan(20);
        await terminate(idsOf(outcome.launched));
        expect(await cloud.provider.launch(request)).toEqual(outcome);
        expect(await cloud.provider.describe(owner, [])).toEqual([]);
      });

      it('never exceeds the capacity with concurrent launches', async () => {
        const outcomes = await Promise.all(Array.from({ length: 3 }, () => launch(cloud.capacity)));
        expect(outcomes.flatMap((outcome) => outcome.launched)).toHaveLength(cloud.capacity);
      });

      it('does not start terminated instances again', async () => {
        const request = cloud.request(owner, 1);
        const first = await cloud.provider.launch(request);
        const [id = ''] = idsOf(first.launched);
        await terminate([id]);
        expect(await cloud.provider.launch(request)).toEqual(first);
        expect(await stateOf(id)).toBe('gone');
      });
    });

    describe('the description', () => {
      it('is true after a launch, a crash and a termination', async () => {
        const startedMs = Date.now();
        const [lives = '', dies = ''] = idsOf((await launch(2)).launched);
        await cloud.until(async () => (await cloud.provider.describe(owner, [])).every(isRunning));
        const [described] = await cloud.provider.describe(owner, []);
        expect(described?.owner).toEqual(owner);
        expect(described?.launchedAtMs).toBeGreaterThanOrEqual(startedMs - 1_000);
        await cloud.crash(dies);
        await cloud.until(async () => (await stateOf(dies)) === 'gone');
        const [crashed] = (await cloud.provider.describe(owner, [dies])).filter(({ id }) => id === dies);
        expect(crashed?.wasOrdered).not.toBe(true);
        expect(crashed?.whyEnded).toMatch(/\w+/);
        expect(described?.whyEnded).toBeUndefined();
        expect(idsOf(await cloud.provider.describe(owner, []))).toEqual([lives]);
        await terminate([lives]);
        expect(await stateOf(lives)).toBe('gone');
        expect(await cloud.provider.describe(owner, [lives])).toContainEqual(
          expect.objectContaining({ id: lives, wasOrdered: true }),
        );
        expect(await cloud.provider.describe(owner, [])).toEqual([]);
      });

      it('shows an owner nothing of another owner', async () => {
        const ids = idsOf((await launch(1)).launched);
        const others: Owner[] = [
          { ...owner, cluster: owner.cluster + 1_000_000 },
          { ...owner, workspace: `${owner.workspace}-other` },
          { ...owner, deploymentId: `${owner.deploymentId}-other` },
        ];
        for (const other of others) expect(await cloud.provider.describe(other, ids)).toEqual([]);
      });
    });

    describe('the list of a deployment', () => {
      it('has every running instance with its owner and age, and none that is gone or of another deployment', async () => {
        const startedMs = Date.now();
        const other: Owner = { ...owner, workspace: `${owner.workspace}-2`, cluster: owner.cluster + 1_000_000 };
        const foreign: Owner = { ...owner, deploymentId: `${owner.deploymentId}-other` };
        const launchFor = async (of: Owner): Promise<string> => {
          const { launched } = await cloud.provider.launch(cloud.request(of, 1));
          return idsOf(launched)[0] ?? '';
        };
        const [mine, theirs, stranger] = [await launchFor(owner), await launchFor(other), await launchFor(foreign)];
        const listed = await cloud.provider.list(owner.deploymentId);
        const ownersById = new Map(listed.map((instance) => [instance.id, instance.owner]));
        expect(ownersById.get(mine)).toEqual(owner);
        expect(ownersById.get(theirs)).toEqual(other);
        expect(ownersById.has(stranger)).toBe(false);
        for (const { id, launchedAtMs } of listed) {
          if (id === mine) expect(launchedAtMs).toBeGreaterThanOrEqual(startedMs - 1_000);
        }
        expect(idsOf(await cloud.provider.list(foreign.deploymentId))).toEqual([stranger]);
        await terminate([mine]);
        expect(idsOf(await cloud.provider.list(owner.deploymentId))).not.toContain(mine);
        expect(idsOf(await cloud.provider.list(owner.deploymentId))).toContain(theirs);
      });
    });

    describe('a termination', () => {
      it('can be repeated, and accepts unknown ids', async () => {
        const ids = idsOf((await launch(1)).launched);
        await terminate([...ids, 'i_00000000000000000000']);
        await terminate([...ids, 'i_00000000000000000000']);
        await terminate([]);
        expect(await cloud.provider.describe(owner, [])).toEqual([]);
      });

      it('terminates nothing of another owner', async () => {
        const [id = ''] = idsOf((await launch(1)).launched);
        await terminate([id], { ...owner, cluster: owner.cluster + 1_000_000 });
        expect(['starting', 'running']).toContain(await stateOf(id));
      });

      it('ends everything that an instance started', async () => {
        const ids = idsOf((await launch(1)).launched);
        const lives = await cloud.startStubbornWork(ids);
        expect(await lives()).toBe(true);
        await terminate(ids);
        expect(await lives()).toBe(false);
      });

      it('ends everything that a crashed instance started', async () => {
        const ids = idsOf((await launch(1)).launched);
        const lives = await cloud.startStubbornWork(ids);
        for (const id of ids) await cloud.crash(id);
        await terminate(ids);
        expect(await lives()).toBe(false);
        for (const id of ids) expect(await stateOf(id)).toBe('gone');
      });

      it('stops trying when it is aborted', async () => {
        const ids = idsOf((await launch(1)).launched);
        await expect(cloud.provider.terminate(owner, ids, AbortSignal.abort(new Error('enough')))).rejects.toThrow(
          'enough',
        );
      });
    });

    resourcesContract(() => cloud);

    it('has offers with prices', async () => {
      const offers = await cloud.provider.offers({});
      expect(offers.filter(({ pricePerHour }) => pricePerHour !== null).length).toBeGreaterThan(0);
      for (const offer of offers) {
        expect(offer.vcpus).toBeGreaterThan(0);
        expect(offer.memoryBytes).toBeGreaterThan(0);
        expect(offer.pricePerHour ?? 0).toBeGreaterThanOrEqual(0);
      }
    });
  });
}

const idsOf = (instances: readonly { id: string }[]): string[] => instances.map(({ id }) => id).sort();
const isRunning = (instance: ObservedInstance): boolean => instance.state === 'running';
