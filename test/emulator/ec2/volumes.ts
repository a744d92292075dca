// Volumes: each instance has one, which is deleted with it or remains, as its mapping specifies.
import { AwsError } from '../aws-error.ts';
import { volumeStateAt } from '../state.ts';
import type { Volume } from '../state.ts';
import type { Xml } from '../xml.ts';
import { matches, page, tagSet } from './call.ts';
import type { Call, Operation } from './call.ts';

export const describeVolumes: Operation = (call) => {
  const ids = call.params.texts('VolumeId');
  if (ids.length > 0 && call.params.text('MaxResults') !== null) {
    throw new AwsError('InvalidParameterCombination', 'The parameter volumesSet cannot be used with maxResults');
  }
  for (const id of ids) volumeOf(call, id);
  const found = [...call.region.volumes.values()].filter(
    (volume) =>
      volumeStateAt(volume, call.nowMs) !== null &&
      (ids.length === 0 || ids.includes(volume.id)) &&
      matches(call, (name) => valuesOf(call, volume, name)),
  );
  const { items, nextToken } = page(call, found, 500);
  return { volumeSet: items.map((volume) => shown(call, volume)), nextToken };
};

export const deleteVolume: Operation = (call) => {
  const volume = volumeOf(call, call.params.text('VolumeId') ?? '');
  if (volumeStateAt(volume, call.nowMs) === 'in-use') {
    throw new AwsError('VolumeInUse', `Volume ${volume.id} is currently attached to ${volume.instance?.id}`);
  }
  volume.deletedAtMs = call.nowMs;
  return { return: true };
};

function volumeOf(call: Call, id: string): Volume {
  const found = call.region.volumes.get(id);
  if (found !== undefined && volumeStateAt(found, call.nowMs) !== null) return found;
  throw new AwsError('InvalidVolume.NotFound', `The volume '${id}' does not exist.`);
}

function valuesOf(call: Call, volume: Volume, name: string): string[] | null {
  if (name.startsWith('tag:')) return [volume.tags[name.slice(4)]].filter((value) => value !== undefined);
  switch (name) {
    case 'tag-key':
      return Object.keys(volume.tags);
    case 'status':
      return [volumeStateAt(volume, call.nowMs) ?? ''];
    case 'volume-id':
      return [volume.id];
    case 'availability-zone':
      return [volume.zone];
    case 'attachment.instance-id':
      return volumeStateAt(volume, call.nowMs) === 'in-use' ? [volume.instance?.id ?? ''] : [];
    default:
      return null;
  }
}

function shown(call: Call, volume: Volume): Xml {
  const status = volumeStateAt(volume, call.nowMs) ?? '';
  return {
    volumeId: volume.id,
    status,
    size: volume.sizeGib,
    volumeType: 'gp3',
    availabilityZone: volume.zone,
    createTime: new Date(volume.createdAtMs).toISOString(),
    attachmentSet:
      status === 'in-use'
        ? [
            {
              volumeId: volume.id,
              instanceId: volume.instance?.id ?? '',
              device: '/dev/sda1',
              status: 'attached',
              deleteOnTermination: volume.deleteOnTermination,
            },
          ]
        : [],
    tagSet: tagSet(volume.tags),
  };
}
