// EC2, and therefore the emulator, refuses tags of a spot request for a launch without one: a launch template with such tags
// works for spot alone. The client is the vendor's own SDK.
import { CreateFleetCommand, CreateLaunchTemplateCommand, RunInstancesCommand } from '@aws-sdk/client-ec2';
import type { CreateFleetCommandOutput, EC2Client } from '@aws-sdk/client-ec2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { clientOf } from './client.ts';
import { startEmulator } from './emulator.ts';
import type { Emulator } from './emulator.ts';

const said =
  'You cannot specify tags for Spot instances requests if there are no Spot instances requests being created by the request.';
const subnets = ['a', 'b'].map((letter) => `subnet-us-east-1${letter}`);
const tagging = [{ ResourceType: 'spot-instances-request' as const, Tags: [{ Key: 'owner', Value: 'ropewalk' }] }];

describe('tags of a spot request', () => {
  let emulator: Emulator;
  let ec2: EC2Client;
  beforeEach(async () => {
    emulator = await startEmulator();
    ec2 = clientOf(emulator);
    for (const [LaunchTemplateName, TagSpecifications] of [
      ['plain', []],
      ['tagging', tagging],
    ] as const) {
      const LaunchTemplateData = { ImageId: 'ami-0123456789abcdef0', TagSpecifications: [...TagSpecifications] };
      await ec2.send(new CreateLaunchTemplateCommand({ LaunchTemplateName, LaunchTemplateData }));
    }
  });
  afterEach(async () => {
    ec2.destroy();
    await emulator.stop();
  });

  const fleet = (market: 'spot' | 'on-demand'): Promise<CreateFleetCommandOutput> =>
    ec2.send(
      new CreateFleetCommand({
        Type: 'instant',
        LaunchTemplateConfigs: [
          {
            LaunchTemplateSpecification: { LaunchTemplateName: 'tagging', Version: '1' },
            Overrides: subnets.map((SubnetId) => ({ InstanceType: 'm6i.large' as const, SubnetId })),
          },
        ],
        TargetCapacitySpecification: { TotalTargetCapacity: 1, DefaultTargetCapacityType: market },
      }),
    );

  it('in a template used on demand fail every pool of a fleet, which is answered all the same', async () => {
    const refused = await fleet('on-demand');
    expect(refused.Instances ?? []).toEqual([]);
    expect(refused.Errors?.map(({ ErrorCode, ErrorMessage }) => [ErrorCode, ErrorMessage])).toEqual(
      subnets.map(() => ['InvalidParameterValue', said]),
    );
    expect((await fleet('spot')).Instances).toHaveLength(1);
  });

  it.each([
    { of: 'the template', how: { LaunchTemplate: { LaunchTemplateName: 'tagging' } } },
    { of: 'the request', how: { LaunchTemplate: { LaunchTemplateName: 'plain' }, TagSpecifications: tagging } },
  ])('of $of fail a single launch on demand as a whole', async ({ how }) => {
    const single = { ...how, InstanceType: 'm6i.large' as const, MinCount: 1, MaxCount: 1 };
    const onDemand = ec2.send(new RunInstancesCommand(single));
    await expect(onDemand).rejects.toMatchObject({ name: 'InvalidParameterValue', message: said });
    const spot = { ...single, InstanceMarketOptions: { MarketType: 'spot' as const } };
    expect((await ec2.send(new RunInstancesCommand(spot))).Instances).toHaveLength(1);
  });
});
