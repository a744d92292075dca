// A test for each way in which a fake cloud can be more lenient than EC2: code that passes against the emulator must not owe that
// to the emulator. The client is the vendor's own SDK.
import { randomUUID } from 'node:crypto';

import {
  CreateFleetCommand,
  CreateLaunchTemplateCommand,
  DescribeFleetInstancesCommand,
  DescribeInstancesCommand,
  DescribeInstanceTypesCommand,
  RunInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import type { CreateFleetCommandInput, CreateFleetCommandOutput, Instance, EC2Client } from '@aws-sdk/client-ec2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { clientOf } from './client.ts';
import { startEmulator } from './emulator.ts';
import type { Emulator } from './emulator.ts';

const image = 'ami-0123456789abcdef0';
const subnets = ['a', 'b', 'c'].map((letter) => `subnet-us-east-1${letter}`);

let emulator: Emulator;
let ec2: EC2Client;
beforeEach(async () => {
  emulator = await startEmulator();
  ec2 = clientOf(emulator);
  await ec2.send(
    new CreateLaunchTemplateCommand({
      LaunchTemplateName: 'the-lt',
      LaunchTemplateData: {
        ImageId: image,
        UserData: Buffer.from('hello').toString('base64'),
        IamInstanceProfile: { Name: 'ropewalk' },
        InstanceInitiatedShutdownBehavior: 'terminate',
        MetadataOptions: { HttpTokens: 'required' },
        NetworkInterfaces: [{ DeviceIndex: 0, Groups: ['sg-cluster'], AssociatePublicIpAddress: true }],
      },
    }),
  );
});
afterEach(async () => {
  ec2.destroy();
  await emulator.stop();
});

interface Wanted {
  count: number;
  types?: string[];
  zones?: string[];
  token?: string;
  market?: 'on-demand' | 'spot';
  atLeast?: number;
}

function fleet({ count, types = ['m6i.large'], zones = subnets, market = 'on-demand', ...rest }: Wanted) {
  const options = { SingleAvailabilityZone: true, MinTargetCapacity: rest.atLeast ?? 1 };
  const input: CreateFleetCommandInput = {
    Type: 'instant',
    ClientToken: rest.token ?? randomUUID(),
    LaunchTemplateConfigs: [
      {
        LaunchTemplateSpecification: { LaunchTemplateName: 'the-lt', Version: '$Latest' },
        Overrides: types.flatMap((type) => zones.map((SubnetId) => ({ InstanceType: type as 'm6i.large', SubnetId }))),
      },
    ],
    TargetCapacitySpecification: { TotalTargetCapacity: count, DefaultTargetCapacityType: market },
    ...(market === 'spot' ? { SpotOptions: options } : { OnDemandOptions: options }),
    TagSpecifications: [{ ResourceType: 'instance', Tags: [{ Key: 'owner', Value: 'ropewalk' }] }],
  };
  return ec2.send(new CreateFleetCommand(input));
}

const idsOf = (answer: CreateFleetCommandOutput): string[] =>
  (answer.Instances ?? []).flatMap((each) => each.InstanceIds ?? []);
const codesOf = (answer: CreateFleetCommandOutput): string[] =>
  [...new Set((answer.Errors ?? []).map((each) => each.ErrorCode ?? ''))].sort();
async function described(ids: string[]): Promise<Instance[]> {
  const answer = await ec2.send(new DescribeInstancesCommand({ InstanceIds: ids }));
  return (answer.Reservations ?? []).flatMap((each) => each.Instances ?? []);
}

describe('a fleet', () => {
  it('draws on every override, groups instances by pool, and says which pools failed', async () => {
    await emulator.send({ op: 'capacity', pool: 'm6i.large/us-east-1a/on-demand', instances: 2 });
    await emulator.send({ op: 'capacity', pool: 'm5.large/us-east-1a/on-demand', instances: 3 });
    const answer = await fleet({ count: 9, types: ['m6i.large', 'm5.large'], zones: subnets.slice(0, 1) });
    expect((answer.Instances ?? []).map((each) => [each.InstanceType, each.InstanceIds?.length])).toEqual([
      ['m6i.large', 2],
      ['m5.large', 3],
    ]);
    expect(codesOf(answer)).toEqual(['InsufficientInstanceCapacity']);
    expect(answer.Errors?.map((each) => each.LaunchTemplateAndOverrides?.Overrides?.InstanceType)).toEqual([
      'm6i.large',
      'm5.large',
    ]);
  });

  it('keeps to one zone, the one with the most capacity, and to the zone that an override names', async () => {
    await emulator.send({ op: 'capacity', pool: 'm6i.large/us-east-1a/on-demand', instances: 3 });
    const ids = idsOf(await fleet({ count: 5 }));
    expect(new Set((await described(ids)).map((each) => each.Placement?.AvailabilityZone))).toHaveProperty('size', 1);
    const pinned = idsOf(await fleet({ count: 1, zones: subnets.slice(2) }));
    expect((await described(pinned))[0]?.Placement?.AvailabilityZone).toBe('us-east-1c');
  });

  it('launches nothing when less than its minimum is available', async () => {
    for (const zone of ['a', 'b', 'c']) {
      await emulator.send({ op: 'capacity', pool: `m6i.large/us-east-1${zone}/on-demand`, instances: 2 });
    }
    const answer = await fleet({ count: 5, atLeast: 5 });
    expect([idsOf(answer), codesOf(answer)]).toEqual([[], ['InsufficientInstanceCapacity']]);
    expect(await emulator.instances()).toEqual([]);
  });

  it('is answered as before for the same token, and refuses the token for anything else', async () => {
    const first = await fleet({ count: 3, token: 'mine' });
    expect(idsOf(await fleet({ count: 3, token: 'mine' }))).toEqual(idsOf(first));
    expect((await emulator.ledger()).entries).toHaveLength(3);
    await expect(fleet({ count: 4, token: 'mine' })).rejects.toMatchObject({ name: 'IdempotentParameterMismatch' });
  });

  it('keeps to the quotas of its market', async () => {
    await emulator.send({ op: 'quota', pool: 'standard/on-demand', vcpus: 5 });
    await emulator.send({ op: 'quota', pool: 'standard/spot', vcpus: 2 });
    const onDemand = await fleet({ count: 4 });
    expect([idsOf(onDemand).length, codesOf(onDemand)]).toEqual([2, ['VcpuLimitExceeded']]);
    const spot = await fleet({ count: 4, market: 'spot' });
    expect([idsOf(spot).length, codesOf(spot)]).toEqual([1, ['MaxSpotInstanceCountExceeded']]);
  });

  it('runs out of addresses', async () => {
    await emulator.send({ op: 'addresses', zone: 'us-east-1a', free: 2 });
    const answer = await fleet({ count: 4, zones: subnets.slice(0, 1) });
    expect([idsOf(answer).length, codesOf(answer)]).toEqual([2, ['InsufficientFreeAddressesInSubnet']]);
  });

  it('knows its instance types, cannot be described by instance, and gives nothing in a zone that is down', async () => {
    expect(codesOf(await fleet({ count: 1, types: ['m99.large'] }))).toEqual(['InvalidParameterValue']);
    const { FleetId } = await fleet({ count: 1 });
    await expect(ec2.send(new DescribeFleetInstancesCommand({ FleetId }))).rejects.toMatchObject({
      name: 'Unsupported',
    });
    await emulator.send({ op: 'zone', zone: 'us-east-1a', down: true });
    const answer = await fleet({ count: 1, zones: subnets.slice(0, 1) });
    expect([idsOf(answer), codesOf(answer)]).toEqual([[], ['InsufficientInstanceCapacity']]);
  });

  it('takes everything that its launch template says', async () => {
    const [instance] = await described(idsOf(await fleet({ count: 1 })));
    expect(instance).toMatchObject({
      ImageId: image,
      SecurityGroups: [{ GroupId: 'sg-cluster' }],
      IamInstanceProfile: { Arn: 'arn:aws:iam::123456789012:instance-profile/ropewalk' },
      MetadataOptions: { HttpTokens: 'required' },
      Tags: [{ Key: 'owner', Value: 'ropewalk' }],
    });
    expect(instance?.PublicIpAddress).toBeDefined();
  });
});

describe('a launch of one kind', () => {
  const SubnetId = 'subnet-us-east-1a';
  const launchOf = (min: number, max: number, token: string = randomUUID()) => ({
    LaunchTemplate: { LaunchTemplateName: 'the-lt' },
    InstanceType: 'm6i.large' as const,
    MinCount: min,
    MaxCount: max,
    ClientToken: token,
  });
  const run = (...how: Parameters<typeof launchOf>) =>
    ec2.send(new RunInstancesCommand({ ...launchOf(...how), NetworkInterfaces: [{ DeviceIndex: 0, SubnetId }] }));

  it('launches as many as fit between minimum and maximum, else fails with an error of the server', async () => {
    await emulator.send({ op: 'capacity', pool: 'm6i.large/us-east-1a/on-demand', instances: 3 });
    expect((await run(1, 5)).Instances).toHaveLength(3);
    await expect(run(1, 1)).rejects.toMatchObject({
      name: 'InsufficientInstanceCapacity',
      $metadata: { httpStatusCode: 500 },
    });
  });

  it('takes no subnet beside the interface of its template, and takes the interface of the request whole', async () => {
    const beside = ec2.send(new RunInstancesCommand({ ...launchOf(1, 1), SubnetId }));
    await expect(beside).rejects.toMatchObject({ name: 'InvalidParameterCombination' });
    const [bare] = (await run(1, 1)).Instances ?? [];
    const [seen] = await described([bare?.InstanceId ?? '']);
    expect([seen?.SubnetId, seen?.SecurityGroups, seen?.PublicIpAddress]).toEqual([SubnetId, [], undefined]);
  });

  it('is idempotent by token, and refuses user data over 16 KiB', async () => {
    const first = await run(1, 2, 'mine');
    const second = await run(1, 2, 'mine');
    expect(second.Instances?.map((each) => each.InstanceId)).toEqual(first.Instances?.map((each) => each.InstanceId));
    const UserData = Buffer.alloc(16_385).toString('base64');
    const large = new RunInstancesCommand({ ImageId: image, MinCount: 1, MaxCount: 1, UserData });
    await expect(ec2.send(large)).rejects.toMatchObject({ name: 'InvalidUserData.Malformed' });
  });
});

describe('what is described', () => {
  it('appears after a while, is pending before it runs, and stays listed after its end', async () => {
    await emulator.send({ op: 'delays', visibleMs: 5_000, pendingMs: 20_000, shutdownMs: 10_000 });
    const ids = idsOf(await fleet({ count: 1 }));
    await expect(described(ids)).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' });
    const stateAfter = async (ms: number): Promise<string | undefined> => {
      await emulator.send({ op: 'advance', ms });
      return (await described(ids))[0]?.State?.Name;
    };
    expect(await stateAfter(5_000)).toBe('pending');
    expect(await stateAfter(15_000)).toBe('running');
    await ec2.send(new TerminateInstancesCommand({ InstanceIds: ids }));
    expect(await stateAfter(0)).toBe('shutting-down');
    expect(await stateAfter(10_000)).toBe('terminated');
    await emulator.send({ op: 'advance', ms: 3_700_000 });
    await expect(described(ids)).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' });
  });

  it('comes in pages', async () => {
    await fleet({ count: 25 });
    const Filters = [{ Name: 'tag:owner', Values: ['ropewalk'] }];
    const first = await ec2.send(new DescribeInstancesCommand({ MaxResults: 10, Filters }));
    expect((first.Reservations ?? []).flatMap((each) => each.Instances ?? [])).toHaveLength(10);
    const second = await ec2.send(
      new DescribeInstancesCommand({ MaxResults: 20, Filters, NextToken: first.NextToken }),
    );
    expect((second.Reservations ?? []).flatMap((each) => each.Instances ?? [])).toHaveLength(15);
    expect(second.NextToken).toBeUndefined();
    const types = await ec2.send(new DescribeInstanceTypesCommand({ MaxResults: 5 }));
    expect([types.InstanceTypes?.length, types.NextToken !== undefined]).toEqual([5, true]);
  });
});

describe('a termination', () => {
  it('fails as a whole for one unknown id, and can be repeated', async () => {
    const ids = idsOf(await fleet({ count: 2 }));
    const unknown = new TerminateInstancesCommand({ InstanceIds: [...ids, 'i-00000000000000000'] });
    await expect(ec2.send(unknown)).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' });
    expect((await emulator.ledger()).live.sort()).toEqual(ids.sort());
    for (let times = 0; times < 2; times += 1) await ec2.send(new TerminateInstancesCommand({ InstanceIds: ids }));
    expect((await emulator.ledger()).live).toEqual([]);
  });
});

describe('a fault', () => {
  it('fails the call it was set for, and no other', async () => {
    const code = 'InternalError';
    await emulator.send({ op: 'fault', fault: { action: 'CreateFleet', nth: 2, kind: 'error', code, status: 500 } });
    await fleet({ count: 1 });
    await expect(fleet({ count: 1 })).rejects.toMatchObject({ name: code });
    await fleet({ count: 1 });
    expect((await emulator.counts()).injected).toEqual({ 'CreateFleet error InternalError': 1 });
  });

  it('loses an answer after its effect, which the same token then returns', async () => {
    await emulator.send({ op: 'fault', fault: { action: 'CreateFleet', kind: 'lost' } });
    await expect(fleet({ count: 2, token: 'mine' })).rejects.toThrow('socket hang up');
    expect((await emulator.ledger()).live).toHaveLength(2);
    expect(idsOf(await fleet({ count: 2, token: 'mine' })).sort()).toEqual((await emulator.ledger()).live.sort());
  });

  it('throttles by the buckets of the real service', async () => {
    await emulator.send({ op: 'throttle', on: true });
    // All at once: the bucket refills by the clock while they are answered.
    const calls = Array.from({ length: 100 }, () =>
      fleet({ count: 1 }).then(
        () => 'ok',
        (error: Error) => error.name,
      ),
    );
    const outcomes = await Promise.all(calls);
    expect(new Set(outcomes)).toEqual(new Set(['ok', 'RequestLimitExceeded']));
    expect(outcomes.filter((outcome) => outcome === 'ok').length).toBeGreaterThanOrEqual(50);
    await emulator.send({ op: 'advance', ms: 60_000 });
    await expect(fleet({ count: 1 })).resolves.toBeDefined();
  });
});
