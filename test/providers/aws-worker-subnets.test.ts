// Settings by role and workspace: workers in private subnets have no public address, by fleets and by single launches; a
// workspace may have an instance profile of its own.
import { CreateSubnetCommand, DescribeInstancesCommand, type EC2Client } from '@aws-sdk/client-ec2';
import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  CreateRoleCommand,
  IAMClient,
} from '@aws-sdk/client-iam';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { createAwsProvider } from '../../providers/aws/provider.ts';
import type { Provider } from '../../providers/provider.ts';
import { clientOf } from '../emulator/client.ts';
import { awsSettings, freshOwner, startCloud, type TestCloud, workersRequest } from './aws-cloud.ts';

let cloud: TestCloud;
let ec2: EC2Client;
let provider: Provider;
let privateIds: string[];
beforeAll(async () => {
  cloud = await startCloud();
  ec2 = clientOf(cloud.emulator);
  const zones = awsSettings.subnets.map(({ zone }) => zone);
  const workerSubnets: { id: string; zone: string }[] = [];
  for (const [at, AvailabilityZone] of zones.entries()) {
    const place = { VpcId: 'vpc-us-east-1', CidrBlock: `172.31.${128 + at * 16}.0/20`, AvailabilityZone };
    const { Subnet } = await ec2.send(new CreateSubnetCommand(place));
    workerSubnets.push({ id: Subnet?.SubnetId ?? '', zone: AvailabilityZone });
  }
  privateIds = workerSubnets.map(({ id }) => id);
  provider = createAwsProvider({ settings: { ...awsSettings, workerSubnets }, unseenMs: 1_000 });
});
afterAll(async () => {
  ec2.destroy();
  await cloud.close();
});

it.each(['fleets', 'single launches'])(
  'the head instance is in a public subnet, workers are in private ones, by %s',
  async (by) => {
    if (by === 'single launches') {
      const fault = {
        action: 'CreateFleet',
        kind: 'error',
        code: 'UnauthorizedOperation',
        status: 403,
        times: 9,
      } as const;
      await cloud.emulator.send({ op: 'fault', fault });
    }
    const workers = workersRequest(freshOwner(), 3);
    const slots = [{ slot: 0, generation: 1, role: 'head' as const }, ...workers.slots];
    const { launched } = await provider.launch({ ...workers, slots });
    expect(launched).toHaveLength(4);
    const InstanceIds = launched.map(({ id }) => id);
    const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({ InstanceIds }));
    const instances = Reservations.flatMap(({ Instances = [] }) => Instances);
    const [head] = instances.filter(({ InstanceId }) => InstanceId === launched[0]?.id);
    const rest = instances.filter(({ InstanceId }) => InstanceId !== launched[0]?.id);
    expect([head?.SubnetId, head?.PublicIpAddress]).toEqual([
      expect.stringMatching(/^subnet-us-east-1[abc]$/),
      expect.any(String),
    ]);
    for (const { SubnetId = '', PublicIpAddress } of rest) {
      expect([privateIds.includes(SubnetId), PublicIpAddress]).toEqual([true, undefined]);
    }
    expect(new Set(instances.map(({ Placement }) => Placement?.AvailabilityZone)).size).toBe(1);
  },
);

it('instances of a workspace with a profile of its own have that one, and those of the others the usual one', async () => {
  const iam = new IAMClient({ endpoint: cloud.emulator.url, region: 'us-east-1' });
  const role = { RoleName: 'ropewalk-research' };
  const profile = { InstanceProfileName: 'ropewalk-research' };
  await iam.send(new CreateRoleCommand({ ...role, AssumeRolePolicyDocument: '{}' }));
  await iam.send(new CreateInstanceProfileCommand(profile));
  await iam.send(new AddRoleToInstanceProfileCommand({ ...role, ...profile }));
  iam.destroy();
  const settings = { ...awsSettings, workspaceProfiles: { research: 'ropewalk-research' } };
  const both = createAwsProvider({ settings, unseenMs: 1_000 });
  for (const [workspace, name] of [
    ['research', 'ropewalk-research'],
    ['constructor', 'ropewalk'],
  ] as const) {
    const { launched } = await both.launch(workersRequest({ ...freshOwner(), workspace }, 1));
    const InstanceIds = launched.map(({ id }) => id);
    const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({ InstanceIds }));
    expect(Reservations[0]?.Instances?.[0]?.IamInstanceProfile?.Arn).toMatch(new RegExp(`/${name}$`));
  }
});
