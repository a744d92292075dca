// Describes and ends instances.
import { AwsError } from '../aws-error.ts';
import { stateAt } from '../state.ts';
import type { Instance } from '../state.ts';
import { instanceTypes } from '../types.ts';
import type { Xml } from '../xml.ts';
import { matches, page, tagSet } from './call.ts';
import type { Call, Operation } from './call.ts';

/** Terminated instances remain visible for about an hour. */
const afterlifeMs = 3_600_000;
const codes = { pending: 0, running: 16, 'shutting-down': 32, terminated: 48, stopping: 64, stopped: 80 } as const;

export const describeInstances: Operation = (call) => {
  const ids = call.params.texts('InstanceId');
  if (ids.length > 0 && call.params.text('MaxResults') !== null) {
    throw new AwsError(
      'InvalidParameterCombination',
      'The parameter instancesSet cannot be used with the parameter maxResults',
    );
  }
  const visible = [...call.region.instances.values()].filter((instance) => isVisible(call, instance));
  const missing = ids.filter((id) => !visible.some((instance) => instance.id === id));
  if (missing.length > 0) throw notFound(missing);
  const found = visible.filter(
    (instance) =>
      (ids.length === 0 || ids.includes(instance.id)) && matches(call, (name) => valuesOf(call, instance, name)),
  );
  const { items, nextToken } = page(call, found);
  const reservations = Map.groupBy(items, ({ reservation }) => reservation);
  return { reservationSet: [...reservations.values()].map((each) => shownReservation(call, each)), nextToken };
};

export const terminateInstances: Operation = (call) => {
  const ids = call.params.texts('InstanceId');
  if (ids.length > 1_000) throw new AwsError('InvalidParameterValue', 'At most 1000 instances in one call.');
  const unknown = ids.filter((id) => !call.region.instances.has(id));
  // One unknown id fails the whole call.
  if (unknown.length > 0) throw notFound(unknown);
  const found = ids.flatMap((id) => call.region.instances.get(id) ?? []);
  const before = found.map((instance) => stateAt(instance, call.nowMs));
  for (const instance of found) call.account.end(instance, 'Client.UserInitiatedShutdown', 'TerminateInstances');
  return {
    instancesSet: found.map((instance, at) => ({
      instanceId: instance.id,
      // Read after the end was recorded, at the current time.
      currentState: shownState(stateAt(instance, call.account.clock.nowMs())),
      previousState: shownState(before[at] ?? 'running'),
    })),
  };
};

/** The console output is empty: only process mode has the text of its agents' output. */
export const getConsoleOutput: Operation = (call) => {
  const id = call.params.text('InstanceId') ?? '';
  if (!call.region.instances.has(id)) throw notFound([id]);
  return { instanceId: id, timestamp: new Date(call.nowMs).toISOString(), output: '' };
};

export function shownReservation(call: Call, instances: Instance[]): { [name: string]: Xml } {
  return {
    reservationId: instances[0]?.reservation ?? '',
    ownerId: call.account.accountId,
    groupSet: [],
    instancesSet: instances.map((instance) => shown(call, instance)),
  };
}

function shown(call: Call, instance: Instance): Xml {
  const state = stateAt(instance, call.nowMs);
  const isUp = state === 'running';
  return {
    instanceId: instance.id,
    imageId: instance.data.imageId,
    instanceState: shownState(state),
    reason: transitionReason(instance),
    stateReason: instance.end === null ? null : { code: instance.end.code, message: instance.end.code },
    // A fresh instance is described before it has its addresses.
    privateIpAddress: isUp ? instance.privateIp : null,
    ipAddress: isUp ? instance.publicIp : null,
    instanceType: instance.type,
    launchTime: new Date(instance.launchedAtMs).toISOString(),
    placement: { availabilityZone: instance.zone, tenancy: 'default' },
    subnetId: instance.subnet,
    architecture: instanceTypes.get(instance.type)?.arch ?? 'x86_64',
    groupSet: instance.data.securityGroups.map((groupId) => ({ groupId })),
    iamInstanceProfile:
      instance.data.profile === null
        ? null
        : { arn: `arn:aws:iam::${call.account.accountId}:instance-profile/${instance.data.profile}` },
    instanceLifecycle: instance.market === 'spot' ? 'spot' : null,
    clientToken: instance.clientToken,
    metadataOptions: { httpTokens: instance.data.httpTokens, state: 'applied' },
    blockDeviceMapping: [
      {
        deviceName: '/dev/sda1',
        ebs: { volumeId: instance.volumeId, deleteOnTermination: instance.data.deleteOnTermination },
      },
    ],
    tagSet: tagSet(instance.tags),
  };
}

/** `StateTransitionReason` of the SDK: with a time when a caller or the machine itself caused the transition, without one for spot. */
function transitionReason({ end }: Instance): string {
  if (end === null) return '';
  if (end.code.startsWith('Server.Spot')) return end.code;
  return `User initiated (${new Date(end.atMs).toISOString().slice(0, 19).replace('T', ' ')} GMT)`;
}

function isVisible(call: Call, instance: Instance): boolean {
  if (call.nowMs < instance.visibleFromMs) return false;
  return instance.end === null || call.nowMs < instance.end.goneAtMs + afterlifeMs;
}

function valuesOf(call: Call, instance: Instance, name: string): string[] | null {
  // Set by EC2, and visible under no other name.
  if (name === 'tag:aws:ec2:fleet-id') return instance.fleet === null ? [] : [instance.fleet];
  if (name.startsWith('tag:')) return [instance.tags[name.slice(4)]].filter((value) => value !== undefined);
  switch (name) {
    case 'tag-key':
      return Object.keys(instance.tags);
    case 'instance-state-name':
      return [stateAt(instance, call.nowMs)];
    case 'instance-id':
      return [instance.id];
    case 'client-token':
      return [instance.clientToken];
    case 'availability-zone':
      return [instance.zone];
    default:
      return null;
  }
}

const shownState = (state: keyof typeof codes): Xml => ({ code: codes[state], name: state });

const notFound = (ids: string[]): AwsError =>
  ids.length === 1
    ? new AwsError('InvalidInstanceID.NotFound', `The instance ID '${ids[0]}' does not exist`)
    : new AwsError('InvalidInstanceID.NotFound', `The instance IDs '${ids.join(', ')}' do not exist`);
