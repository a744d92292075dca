// Values that EC2 and CloudWatch Logs do not have, and parameters that exclude each other: each refused as in AWS's reference.
// One emulator serves all: a refused request launches nothing.
import { CloudWatchLogsClient, CreateLogGroupCommand, CreateLogStreamCommand } from '@aws-sdk/client-cloudwatch-logs';
import {
  FilterLogEventsCommand,
  PutLogEventsCommand,
  PutRetentionPolicyCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import {
  AuthorizeSecurityGroupIngressCommand,
  CreateFleetCommand,
  type CreateFleetCommandInput,
  CreateLaunchTemplateCommand,
  CreateSecurityGroupCommand,
  DescribeInstanceTypeOfferingsCommand,
  DescribeSecurityGroupsCommand,
  type EC2Client,
  type IpPermission,
  RunInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { clientOf } from './client.ts';
import { type Emulator, startEmulator } from './emulator.ts';
import { imageNamed } from './images.ts';

const ImageId = imageNamed(
  'us-east-1',
  '/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id',
);
const logGroupName = 'ropewalk/refused';
const logStreamName = '1/i-0';
let emulator: Emulator;
let ec2: EC2Client;
let logs: CloudWatchLogsClient;
let group = '';
beforeAll(async () => {
  emulator = await startEmulator();
  ec2 = clientOf(emulator);
  const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'test' };
  logs = new CloudWatchLogsClient({ endpoint: emulator.url, region: 'us-east-1', maxAttempts: 1, credentials });
  await ec2.send(new CreateLaunchTemplateCommand({ LaunchTemplateName: 'right', LaunchTemplateData: { ImageId } }));
  group = await newGroup('rules');
  await logs.send(new CreateLogGroupCommand({ logGroupName }));
  await logs.send(new CreateLogStreamCommand({ logGroupName, logStreamName }));
});
afterAll(async () => {
  ec2.destroy();
  logs.destroy();
  await emulator.stop();
});

async function newGroup(GroupName: string): Promise<string> {
  const wanted = { GroupName, Description: 'd', VpcId: 'vpc-us-east-1' };
  return (await ec2.send(new CreateSecurityGroupCommand(wanted))).GroupId ?? '';
}

const pool = { InstanceType: 'm6i.large', SubnetId: 'subnet-us-east-1a' };
/** Parameters as a caller without types would send them. */
const fleet = (changes: object, override: object = {}, template: object = {}) =>
  ec2.send(
    new CreateFleetCommand({
      Type: 'instant',
      LaunchTemplateConfigs: [
        {
          LaunchTemplateSpecification: { LaunchTemplateName: 'right', Version: '1', ...template },
          Overrides: [{ ...pool, ...override }],
        },
      ],
      TargetCapacitySpecification: { TotalTargetCapacity: 1, DefaultTargetCapacityType: 'on-demand' },
      ...changes,
    } as CreateFleetCommandInput),
  );
const run = (changes: object) =>
  ec2.send(new RunInstancesCommand({ ImageId, ...pool, MinCount: 1, MaxCount: 1, ...changes } as never));
const disk = (Ebs: object) =>
  run({ BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: { VolumeType: 'gp3', ...Ebs } }] });
const least = (MinTargetCapacity: number) => ({ OnDemandOptions: { SingleAvailabilityZone: true, MinTargetCapacity } });
const capacity = (TotalTargetCapacity: number) => ({
  TargetCapacitySpecification: { TotalTargetCapacity, DefaultTargetCapacityType: 'on-demand' },
});
const face = { DeviceIndex: 0, SubnetId: pool.SubnetId };
const withFace = (NetworkInterfaces: object[], changes: object = {}) =>
  run({ SubnetId: undefined, NetworkInterfaces, ...changes });
const allow = (changes: IpPermission) => {
  const permission = { IpProtocol: 'tcp', FromPort: 22, ToPort: 22, IpRanges: [{ CidrIp: '10.0.0.0/8' }], ...changes };
  return ec2.send(new AuthorizeSecurityGroupIngressCommand({ GroupId: group, IpPermissions: [permission] }));
};
const put = (...times: number[]) => {
  const logEvents = times.map((timestamp) => ({ timestamp, message: 'x' }));
  return logs.send(new PutLogEventsCommand({ logGroupName, logStreamName, logEvents }));
};
const hour = 3_600_000;

describe('a request is refused', () => {
  it.each<[string, string, () => Promise<unknown>]>([
    ['a fleet of no type', 'InvalidParameterValue', () => fleet({ Type: 'once' })],
    ['a fleet of 10,001', 'InvalidParameterValue', () => fleet(capacity(10_001))],
    ['more at least than asked for', 'InvalidParameterValue', () => fleet(least(2))],
    ['at least 1,001', 'InvalidParameterValue', () => fleet({ ...capacity(2_000), ...least(1_001) })],
    ['a negative priority', 'InvalidParameterValue', () => fleet({}, { Priority: -1 })],
    ['a fractional priority', 'InvalidParameterValue', () => fleet({}, { Priority: 1.5 })],
    ['a subnet of another zone', 'InvalidParameterValue', () => fleet({}, { AvailabilityZone: 'us-east-1b' })],
    [
      'a template by id and name',
      'InvalidParameterCombination',
      () => fleet({}, {}, { LaunchTemplateId: 'lt-0123456789abcdef0' }),
    ],
    ['user data that is no base64', 'InvalidUserData.Malformed', () => run({ UserData: '#!/bin/sh' })],
    [
      'tokens that are not asked for right',
      'InvalidParameterValue',
      () => run({ MetadataOptions: { HttpTokens: 'maybe' } }),
    ],
    ['65 hops', 'InvalidParameterValue', () => run({ MetadataOptions: { HttpPutResponseHopLimit: 65 } })],
    ['an unknown end', 'InvalidParameterValue', () => run({ InstanceInitiatedShutdownBehavior: 'explode' })],
    ['an unknown market', 'InvalidParameterValue', () => run({ InstanceMarketOptions: { MarketType: 'cheap' } })],
    ['a key pair that is not there', 'InvalidKeyPair.NotFound', () => run({ KeyName: 'mine' })],
    ['a snapshot that is not there', 'InvalidSnapshot.NotFound', () => disk({ SnapshotId: 'snap-0123456789abcdef0' })],
    ['a volume type', 'UnknownVolumeType', () => disk({ VolumeType: 'gp9' })],
    ['a disk of 70,000 GiB', 'InvalidParameterValue', () => disk({ VolumeSize: 70_000 })],
    ['100,000 IOPS', 'InvalidParameterValue', () => disk({ VolumeSize: 1_000, Iops: 100_000 })],
    ['more than 500 IOPS for a GiB', 'InvalidParameterValue', () => disk({ VolumeSize: 8, Iops: 5_000 })],
    ['3,000 MB/s', 'InvalidParameterValue', () => disk({ VolumeSize: 100, Iops: 20_000, Throughput: 3_000 })],
    [
      'more than 0.25 MB/s for an IOPS',
      'InvalidParameterValue',
      () => disk({ VolumeSize: 30, Iops: 3_000, Throughput: 1_000 }),
    ],
    ['throughput of gp2', 'InvalidParameterCombination', () => disk({ VolumeType: 'gp2', Throughput: 300 })],
    [
      'groups beside an interface',
      'InvalidParameterCombination',
      () => withFace([face], { SecurityGroupIds: ['sg-cluster'] }),
    ],
    ['an interface without an index', 'MissingParameter', () => withFace([{ SubnetId: pool.SubnetId }])],
    [
      'six groups of an interface',
      'SecurityGroupsPerInterfaceLimitExceeded',
      () => withFace([{ ...face, Groups: Array.from({ length: 6 }, (_, at) => `sg-${at}`) }]),
    ],
    ['a token that is not ASCII', 'InvalidParameterValue', () => run({ ClientToken: 'grün' })],
    [
      'tags of a kind twice',
      'InvalidParameterValue',
      () =>
        run({
          TagSpecifications: [1, 2].map((at) => ({ ResourceType: 'instance', Tags: [{ Key: `k${at}`, Value: '' }] })),
        }),
    ],
    [
      'the end of no instance',
      'InvalidParameterCombination',
      () => ec2.send(new TerminateInstancesCommand({ InstanceIds: [] })),
    ],
    [
      'offers of an unknown kind of place',
      'InvalidParameterValue',
      () => ec2.send(new DescribeInstanceTypeOfferingsCommand({ LocationType: 'moon' as never })),
    ],
    ['a group named default', 'InvalidParameterValue', () => newGroup('default')],
    ['a range that is none', 'InvalidParameterValue', () => allow({ IpRanges: [{ CidrIp: '300.0.0.0/8' }] })],
    ['an address without a prefix', 'InvalidParameterValue', () => allow({ IpRanges: [{ CidrIp: '10.0.0.1' }] })],
    ['IPv6 as IPv4', 'InvalidParameterValue', () => allow({ IpRanges: [{ CidrIp: '::/0' }] })],
    ['port 70,000', 'InvalidParameterValue', () => allow({ FromPort: 70_000, ToPort: 70_000 })],
    ['ports that end before they begin', 'InvalidParameterValue', () => allow({ FromPort: 23, ToPort: 22 })],
    ['TCP without ports', 'InvalidParameterValue', () => allow({ FromPort: undefined, ToPort: undefined })],
    ['an unknown protocol', 'InvalidParameterValue', () => allow({ IpProtocol: 'xyz' })],
    [
      'a rule twice',
      'InvalidParameterValue',
      () => allow({ IpRanges: [{ CidrIp: '10.9.0.0/16' }, { CidrIp: '10.9.1.0/16' }] }),
    ],
    [
      '61 rules',
      'RulesPerSecurityGroupLimitExceeded',
      () => allow({ IpRanges: Array.from({ length: 61 }, (_, at) => ({ CidrIp: `10.${at}.0.0/16` })) }),
    ],
    [
      'a retention of 31 days',
      'InvalidParameterException',
      () => logs.send(new PutRetentionPolicyCommand({ logGroupName, retentionInDays: 31 })),
    ],
    [
      'a stream with a colon',
      'InvalidParameterException',
      () => logs.send(new CreateLogStreamCommand({ logGroupName, logStreamName: 'a:b' })),
    ],
    [
      'a log group with a space',
      'InvalidParameterException',
      () => logs.send(new CreateLogGroupCommand({ logGroupName: 'a b' })),
    ],
    ['lines of more than a day', 'InvalidParameterException', () => put(Date.now() - 25 * hour, Date.now())],
    [
      'a token of no page of logs',
      'InvalidParameterException',
      () => logs.send(new FilterLogEventsCommand({ logGroupName, nextToken: 'none' })),
    ],
    [
      'logs before 1970',
      'InvalidParameterException',
      () => logs.send(new FilterLogEventsCommand({ logGroupName, startTime: -1 })),
    ],
  ])('%s: %s', async (_what, name, request) => {
    await expect(request()).rejects.toMatchObject({ name });
    expect(await emulator.instances()).toEqual([]);
  });
});

it('lines of the next day are left out, and the answer says from where on', async () => {
  const { rejectedLogEventsInfo } = await put(Date.now(), Date.now() + 3 * hour);
  expect(rejectedLogEventsInfo).toEqual({ tooNewLogEventStartIndex: 1 });
});

it('a rule is stored without the bits behind its prefix', async () => {
  await allow({ IpRanges: [{ CidrIp: '203.0.113.77/24' }] });
  const { SecurityGroups = [] } = await ec2.send(new DescribeSecurityGroupsCommand({ GroupIds: [group] }));
  expect(SecurityGroups[0]?.IpPermissions?.[0]?.IpRanges).toEqual([{ CidrIp: '203.0.113.0/24' }]);
  await expect(allow({ IpRanges: [{ CidrIp: '203.0.113.0/24' }] })).rejects.toMatchObject({
    name: 'InvalidPermission.Duplicate',
  });
});
