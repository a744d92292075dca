// Volumes of the emulated EC2 are no more lenient than real ones: tagged only when the launch requests it, deleted with their
// instance only when their mapping requests it, and not deletable while attached.
import type { EC2Client } from '@aws-sdk/client-ec2';
import {
  DeleteVolumeCommand,
  DescribeVolumesCommand,
  RunInstancesCommand,
  TerminateInstancesCommand,
  type Volume,
} from '@aws-sdk/client-ec2';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { clientOf } from './client.ts';
import { type Emulator, startEmulator } from './emulator.ts';

let emulator: Emulator;
let ec2: EC2Client;
beforeEach(async () => {
  emulator = await startEmulator();
  ec2 = clientOf(emulator);
});
afterEach(async () => {
  ec2.destroy();
  await emulator.stop();
});

async function launch({ keep = false, tagged = true } = {}): Promise<{ id: string; volume: string }> {
  const Tags = [{ Key: 'of', Value: 'us' }];
  const { Instances = [] } = await ec2.send(
    new RunInstancesCommand({
      ...{ ImageId: 'ami-0123456789abcdef0', InstanceType: 'm6i.large', MinCount: 1, MaxCount: 1 },
      ...(keep ? { BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: { DeleteOnTermination: false } }] } : {}),
      TagSpecifications: (tagged ? (['instance', 'volume'] as const) : (['instance'] as const)).map((ResourceType) => ({
        ResourceType,
        Tags,
      })),
    }),
  );
  const [instance] = Instances;
  return { id: instance?.InstanceId ?? '', volume: instance?.BlockDeviceMappings?.[0]?.Ebs?.VolumeId ?? '' };
}
async function volumes(filters: Record<string, string> = {}): Promise<Volume[]> {
  const Filters = Object.entries(filters).map(([Name, value]) => ({ Name, Values: [value] }));
  return (await ec2.send(new DescribeVolumesCommand({ Filters }))).Volumes ?? [];
}
const end = (id: string) => ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
const remove = (VolumeId: string) => ec2.send(new DeleteVolumeCommand({ VolumeId }));

it('a volume has the tags that were asked for it, not its instance’s', async () => {
  const [tagged, plain] = [await launch(), await launch({ tagged: false })];
  expect((await volumes()).map(({ VolumeId }) => VolumeId)).toEqual([tagged.volume, plain.volume]);
  const found = await volumes({ 'tag:of': 'us' });
  expect(found).toMatchObject([{ VolumeId: tagged.volume, State: 'in-use', CreateTime: expect.any(Date) }]);
  expect(found[0]?.Attachments).toMatchObject([{ InstanceId: tagged.id, DeleteOnTermination: true }]);
});

it('a volume goes with its instance, or stays and can be deleted then', async () => {
  const [going, staying] = [await launch(), await launch({ keep: true })];
  await expect(remove(staying.volume)).rejects.toMatchObject({ name: 'VolumeInUse' });
  await end(going.id);
  await end(staying.id);
  expect(await volumes({ status: 'available' })).toMatchObject([{ VolumeId: staying.volume, State: 'available' }]);
  expect(await volumes({ status: 'in-use' })).toEqual([]);
  await remove(staying.volume);
  expect(await volumes()).toEqual([]);
  for (const { volume } of [going, staying]) {
    await expect(remove(volume)).rejects.toMatchObject({ name: 'InvalidVolume.NotFound' });
  }
});
