// Wrong requests that a fake cloud might accept, each refused as EC2 and CloudWatch Logs refuse it. One emulator serves all: a
// refused request changes nothing.
import { randomUUID } from 'node:crypto';

import { CloudWatchLogsClient, CreateLogGroupCommand, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import {
  CreateFleetCommand,
  type CreateFleetCommandInput,
  CreateLaunchTemplateCommand,
  CreateSecurityGroupCommand,
  DescribeInstancesCommand,
  DescribeInstanceTypesCommand,
  DescribeVolumesCommand,
  type EC2Client,
  type RequestLaunchTemplateData,
  RunInstancesCommand,
  type RunInstancesCommandInput,
} from '@aws-sdk/client-ec2';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { clientOf } from './client.ts';
import { type Emulator, startEmulator } from './emulator.ts';
import { imageNamed } from './images.ts';

const ubuntu = (architecture: string): string =>
  imageNamed(
    'us-east-1',
    `/aws/service/canonical/ubuntu/server/24.04/stable/current/${architecture}/hvm/ebs-gp3/ami-id`,
  );

let emulator: Emulator;
let ec2: EC2Client;
let logs: CloudWatchLogsClient;
beforeAll(async () => {
  emulator = await startEmulator();
  ec2 = clientOf(emulator);
  const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'test' };
  logs = new CloudWatchLogsClient({ endpoint: emulator.url, region: 'us-east-1', maxAttempts: 1, credentials });
  await template('right', {});
  await logs.send(new CreateLogGroupCommand({ logGroupName: 'ropewalk/refusals' }));
});
afterAll(async () => {
  ec2.destroy();
  logs.destroy();
  await emulator.stop();
});

const elsewhere = () => ({ endpoint: emulator.url, region: 'us-east-1', maxAttempts: 1 });
const wrong = { accessKeyId: 'AKIATEST', secretAccessKey: 'another' };

async function template(name: string, changes: RequestLaunchTemplateData): Promise<void> {
  const LaunchTemplateData = { ImageId: ubuntu('amd64'), ...changes };
  await ec2.send(new CreateLaunchTemplateCommand({ LaunchTemplateName: name, LaunchTemplateData }));
}

const override = { InstanceType: 'm6i.large' as const, SubnetId: 'subnet-us-east-1a' };
function fleet(
  changes: Partial<CreateFleetCommandInput>,
  from: { version?: string; overrides?: object[]; name?: string } = {},
) {
  const LaunchTemplateSpecification = { LaunchTemplateName: from.name ?? 'right', Version: from.version ?? '1' };
  return ec2.send(
    new CreateFleetCommand({
      Type: 'instant',
      LaunchTemplateConfigs: [{ LaunchTemplateSpecification, Overrides: from.overrides ?? [override] }],
      TargetCapacitySpecification: { TotalTargetCapacity: 1, DefaultTargetCapacityType: 'on-demand' },
      ...changes,
    }),
  );
}
const run = (changes: Partial<RunInstancesCommandInput>) =>
  ec2.send(
    new RunInstancesCommand({
      ...{ ImageId: ubuntu('amd64'), InstanceType: 'm6i.large', SubnetId: override.SubnetId },
      ...{ MinCount: 1, MaxCount: 1, ...changes },
    }),
  );
const tagged = (Tags: { Key: string; Value: string }[]) => [{ ResourceType: 'instance' as const, Tags }];
const strategy = (AllocationStrategy: string) => ({
  OnDemandOptions: { AllocationStrategy: AllocationStrategy as 'prioritized' },
});
const many = (count: number) => Array.from({ length: count }, (_, at) => ({ Key: `key ${at}`, Value: '' }));

it.each<[string, string, () => Promise<unknown>]>([
  [
    'a version that the template does not have',
    'InvalidLaunchTemplateId.VersionNotFound',
    () => fleet({}, { version: '7' }),
  ],
  ['the same pool twice', 'InvalidFleetConfig', () => fleet({}, { overrides: [override, override] })],
  [
    '301 overrides',
    'InvalidFleetConfig',
    () =>
      fleet(
        {},
        {
          overrides: Array.from({ length: 301 }, (_, Priority) => ({
            ...override,
            AvailabilityZone: `z${Priority}`,
            Priority,
          })),
        },
      ),
  ],
  ['an allocation strategy of the other market', 'InvalidParameterValue', () => fleet(strategy('capacity-optimized'))],
  [
    'a capacity of none',
    'InvalidParameterValue',
    () => fleet({ TargetCapacitySpecification: { TotalTargetCapacity: 0 } }),
  ],
  ['a client token of 65 characters', 'InvalidParameterValue', () => fleet({ ClientToken: 'x'.repeat(65) })],
  [
    'a tag of AWS',
    'InvalidParameterValue',
    () => run({ TagSpecifications: tagged([{ Key: 'aws:mine', Value: '1' }]) }),
  ],
  [
    'a long tag key',
    'InvalidParameterValue',
    () => run({ TagSpecifications: tagged([{ Key: 'k'.repeat(129), Value: '' }]) }),
  ],
  [
    'a long tag value',
    'InvalidParameterValue',
    () => run({ TagSpecifications: tagged([{ Key: 'k', Value: 'v'.repeat(257) }]) }),
  ],
  ['51 tags', 'TagLimitExceeded', () => run({ TagSpecifications: tagged(many(51)) })],
  ['a tag twice', 'InvalidParameterValue', () => run({ TagSpecifications: tagged([...many(1), ...many(1)]) })],
  [
    'tags of what is not created',
    'InvalidParameterValue',
    () => run({ TagSpecifications: [{ ResourceType: 'fleet', Tags: many(1) }] }),
  ],
  ['an image that is not there', 'InvalidAMIID.NotFound', () => run({ ImageId: 'ami-00000000000000000' })],
  ['an image of another architecture', 'InvalidParameterValue', () => run({ ImageId: ubuntu('arm64') })],
  [
    'a disk below the image',
    'InvalidBlockDeviceMapping',
    () => run({ BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: { VolumeSize: 4 } }] }),
  ],
  ['fewer at most than at least', 'InvalidParameterValue', () => run({ MinCount: 2, MaxCount: 1 })],
  ['a dry run of a wrong request', 'InvalidSubnetID.NotFound', () => run({ DryRun: true, SubnetId: 'subnet-gone' })],
  ['a dry run of a right request, which would succeed', 'DryRunOperation', () => run({ DryRun: true })],
  [
    'a malformed instance id',
    'InvalidInstanceID.Malformed',
    () => ec2.send(new DescribeInstancesCommand({ InstanceIds: ['i-1'] })),
  ],
  [
    'a filter that EC2 does not have',
    'InvalidParameterValue',
    () => ec2.send(new DescribeVolumesCommand({ Filters: [{ Name: 'colour', Values: ['red'] }] })),
  ],
  [
    '201 filter values',
    'FilterLimitExceeded',
    () =>
      ec2.send(new DescribeVolumesCommand({ Filters: [{ Name: 'tag:a', Values: many(201).map(({ Key }) => Key) }] })),
  ],
  ['a page below the least', 'InvalidParameterValue', () => ec2.send(new DescribeInstancesCommand({ MaxResults: 4 }))],
  [
    'a page above the most',
    'InvalidParameterValue',
    () => ec2.send(new DescribeInstanceTypesCommand({ MaxResults: 101 })),
  ],
  [
    'a token of no page',
    'InvalidNextToken',
    () => ec2.send(new DescribeInstancesCommand({ NextToken: 'not a token' })),
  ],
  ['a short template name', 'InvalidLaunchTemplateName.MalformedException', () => template('lt', {})],
  [
    'a group name with an umlaut',
    'InvalidParameterValue',
    () => ec2.send(new CreateSecurityGroupCommand({ GroupName: 'grün', Description: 'd', VpcId: 'vpc-us-east-1' })),
  ],
  [
    'logs that end before they begin',
    'InvalidParameterException',
    () => logs.send(new FilterLogEventsCommand({ logGroupName: 'ropewalk/refusals', startTime: 10, endTime: 5 })),
  ],
  [
    'a wrong secret',
    'SignatureDoesNotMatch',
    () => new STSClient({ ...elsewhere(), credentials: wrong }).send(new GetCallerIdentityCommand({})),
  ],
  [
    'a wrong secret, of logs',
    'InvalidSignatureException',
    () =>
      new CloudWatchLogsClient({ ...elsewhere(), credentials: wrong }).send(
        new CreateLogGroupCommand({ logGroupName: 'g' }),
      ),
  ],
  [
    'a session without its token',
    'InvalidClientTokenId',
    () =>
      new STSClient({
        ...elsewhere(),
        credentials: { accessKeyId: 'ASIA123456789012', secretAccessKey: 'emulated' },
      }).send(new GetCallerIdentityCommand({})),
  ],
])('%s: %s', async (_what, name, request) => {
  await expect(request()).rejects.toMatchObject({ name });
});

it('an image of another architecture fails the pool of a fleet, not the fleet', async () => {
  await template('arm', { ImageId: ubuntu('arm64') });
  const { Errors = [], Instances = [] } = await fleet({ ClientToken: randomUUID() }, { name: 'arm' });
  expect([Errors.map(({ ErrorCode }) => ErrorCode), Instances]).toEqual([['InvalidParameterValue'], []]);
  // None of the refused requests launched anything.
  expect(await emulator.instances()).toEqual([]);
});
