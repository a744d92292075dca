// One cluster's knowledge of EC2's lack of capacity saves the other clusters of the same process their calls, and never splits
// one launch in two: a repeat, also by a process with other or no knowledge, sends the same request.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { unavailableOfferMs } from '../../domain/cluster/limits.ts';
import { createUnavailableOfferings, withoutExcluded } from '../../providers/aws/unavailable.ts';
import { failureOf, poolsOf } from '../../providers/aws/pools.ts';
import { createAwsProvider } from '../../providers/aws/provider.ts';
import type { LaunchRequest } from '../../providers/provider.ts';
import { awsSettings, freshOwner, placement, startCloud, workersRequest } from '../providers/aws-cloud.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';
import { inSimulatedTime } from './simulated-time.ts';

describe('unavailable offers', () => {
  let cloud: TestCloud;
  beforeEach(async () => {
    cloud = inSimulatedTime(await startCloud());
    for (const letter of ['a', 'b', 'c']) {
      const pool = `m6i.large/us-east-1${letter}/on-demand`;
      await cloud.emulator.send({ op: 'capacity', pool, instances: 0 });
    }
  });
  afterEach(() => cloud.close());

  const request = (): LaunchRequest =>
    workersRequest(freshOwner(), 1, undefined, placement({ types: ['m6i.large', 'm5.large'] }));

  it('are asked for once, where each costs a call of its own', async () => {
    const fault = {
      action: 'CreateFleet',
      times: 100,
      kind: 'error',
      code: 'UnauthorizedOperation',
      status: 403,
    } as const;
    await cloud.emulator.send({ op: 'fault', fault });
    const calls: number[] = [];
    for (let clusters = 0; clusters < 5; clusters += 1) {
      const before = (await cloud.emulator.counts()).calls['RunInstances'] ?? 0;
      expect((await cloud.provider.launch(request())).launched.map(({ offer }) => offer)).toEqual(['m5.large']);
      calls.push(((await cloud.emulator.counts()).calls['RunInstances'] ?? 0) - before);
    }
    expect(calls).toEqual([4, 1, 1, 1, 1]);
  });

  it('are excluded by every repeat of a launch that excluded them, in other processes too', async () => {
    const types = placement({ types: ['m6i.large'] });
    await cloud.provider.launch(workersRequest(freshOwner(), 1, undefined, types));
    const mine = request();
    await cloud.emulator.send({ op: 'fault', fault: { action: 'CreateFleet', kind: 'lost' } });
    await expect(cloud.provider.launch(mine)).rejects.toThrow(/hang up|ECONNRESET/);
    const elsewhere = createAwsProvider(cloud.options);
    const { launched, failures } = await elsewhere.launch(mine);
    expect([launched.map(({ offer }) => offer), failures]).toEqual([['m5.large'], []]);
    expect((await cloud.emulator.ledger()).live).toEqual(launched.map(({ id }) => id));
  });

  it('are no reason to launch twice when EC2 repeats a fleet without its instances', async () => {
    const mine = workersRequest(freshOwner(), 3, undefined, placement({ types: ['m5.large'] }));
    await cloud.emulator.send({ op: 'repeatFleetsBare', on: true });
    await cloud.emulator.send({ op: 'fault', fault: { action: 'CreateFleet', kind: 'lost' } });
    await expect(cloud.provider.launch(mine)).rejects.toThrow(/hang up|ECONNRESET/);
    const { launched, failures } = await createAwsProvider(cloud.options).launch(mine);
    expect([launched.length, failures]).toEqual([3, []]);
    expect((await cloud.emulator.ledger()).live.toSorted()).toEqual(launched.map(({ id }) => id).toSorted());
  });

  it('are part of every repeat of a launch that requested them, although they are unavailable by now', async () => {
    const mine = request();
    await cloud.emulator.send({ op: 'fault', fault: { action: 'CreateFleet', kind: 'lost' } });
    await expect(cloud.provider.launch(mine)).rejects.toThrow(/hang up|ECONNRESET/);
    const types = placement({ types: ['m6i.large'] });
    expect((await cloud.provider.launch(workersRequest(freshOwner(), 1, undefined, types))).launched).toEqual([]);
    const { launched, failures } = await cloud.provider.launch(mine);
    expect([launched.map(({ offer }) => offer), failures]).toEqual([['m5.large'], []]);
    expect((await cloud.emulator.ledger()).live).toEqual(launched.map(({ id }) => id));
  });
});

describe('the memory of unavailable offerings', () => {
  const pools = poolsOf(placement({ types: ['m6i.large', 'm5.large'] }), awsSettings.subnets);
  const failure = (code: string, type: string, zone: string) =>
    failureOf({ type, zone, market: 'spot' }, { code, message: '' }, 1);
  const left = (
    unavailable: ReturnType<typeof createUnavailableOfferings>,
    market: 'spot' | 'on-demand' = 'spot',
  ): string[] =>
    withoutExcluded(pools, unavailable.exclusions(market, pools)).map(
      ({ type, subnet }) => `${type} ${subnet.zone.at(-1)}`,
    );
  const all = ['m6i.large a', 'm6i.large b', 'm6i.large c', 'm5.large a', 'm5.large b', 'm5.large c'];

  it('lasts three minutes, for that market alone', () => {
    let nowMs = 0;
    const unavailable = createUnavailableOfferings(() => nowMs);
    unavailable.note('spot', {
      instances: [],
      poolFailures: [failure('InsufficientInstanceCapacity', 'm6i.large', 'us-east-1b')],
    });
    expect(left(unavailable)).toEqual(all.filter((pool) => pool !== 'm6i.large b'));
    expect(left(unavailable, 'on-demand')).toEqual(all);
    nowMs = unavailableOfferMs;
    expect(left(unavailable)).toEqual(all);
  });

  it('reaches as far as the failure, and never to a pool that gave something or to a quota', () => {
    const unavailable = createUnavailableOfferings(() => 0);
    const instances = [{ id: 'i-1', type: 'm5.large', zone: 'us-east-1a' }];
    const failures = [
      failure('InsufficientInstanceCapacity', 'm5.large', 'us-east-1a'),
      failure('MaxSpotInstanceCountExceeded', 'm5.large', 'us-east-1b'),
      failure('UnavailableZone', '', 'us-east-1c'),
    ];
    unavailable.note('spot', { instances, poolFailures: failures });
    expect(left(unavailable)).toEqual(all.filter((pool) => !pool.endsWith('c')));
  });

  it('never excludes every pool', () => {
    const unavailable = createUnavailableOfferings(() => 0);
    const failures = ['a', 'b', 'c'].map((letter) => failure('UnavailableZone', '', `us-east-1${letter}`));
    unavailable.note('spot', { instances: [], poolFailures: failures });
    expect(left(unavailable)).toEqual(all);
  });
});
