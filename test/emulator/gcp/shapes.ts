// Resources as Google's REST API writes them. Checked against Google's discovery document in ../cross/discovery.full.test.ts.
import { machineTypes } from './types.ts';
import type { Disk, Firewall, Instance, Operation } from './state.ts';
import type { Network, Subnetwork } from './network.ts';
import { statusAt } from './state.ts';
import type { EmulatedProject } from './project.ts';

const root = 'https://www.googleapis.com/compute/v1';
const rfc3339 = (ms: number): string => new Date(ms).toISOString();
export const linkOf = (project: EmulatedProject, path: string): string => `${root}/projects/${project.id}/${path}`;

export function instanceOf(project: EmulatedProject, instance: Instance): object {
  const { name, numericId, zone, machineType, labels, market, networkTags, publicIp, createdAtMs } = instance;
  const isSpot = market === 'spot';
  return {
    kind: 'compute#instance',
    id: numericId,
    name,
    creationTimestamp: rfc3339(createdAtMs),
    zone: linkOf(project, `zones/${zone}`),
    machineType: linkOf(project, `zones/${zone}/machineTypes/${machineType}`),
    status: statusAt(instance, project.clock.nowMs()),
    labels,
    labelFingerprint: '42WmSpB8rSM=',
    tags: { items: networkTags, fingerprint: '42WmSpB8rSM=' },
    networkInterfaces: [
      {
        kind: 'compute#networkInterface',
        name: 'nic0',
        network: linkOf(project, 'global/networks/ropewalk'),
        subnetwork: linkOf(project, `regions/${project.region}/subnetworks/${instance.subnetwork}`),
        networkIP: instance.privateIp,
        accessConfigs:
          publicIp === null
            ? []
            : [{ kind: 'compute#accessConfig', type: 'ONE_TO_ONE_NAT', name: 'External NAT', natIP: publicIp }],
      },
    ],
    disks: [{ kind: 'compute#attachedDisk', boot: true, autoDelete: true, type: 'PERSISTENT', deviceName: name }],
    scheduling: {
      automaticRestart: false,
      preemptible: isSpot,
      provisioningModel: isSpot ? 'SPOT' : 'STANDARD',
      onHostMaintenance: isSpot || instance.accelerator !== null ? 'TERMINATE' : 'MIGRATE',
      ...(isSpot || instance.maxRunSeconds !== null ? { instanceTerminationAction: 'DELETE' } : {}),
      ...(instance.maxRunSeconds === null ? {} : { maxRunDuration: { seconds: String(instance.maxRunSeconds) } }),
    },
    selfLink: linkOf(project, `zones/${zone}/instances/${name}`),
  };
}

export function operationOf(project: EmulatedProject, operation: Operation): object {
  const { name, type, scope, target, groupId, insertedAtMs, doneAtMs, error, perLocation } = operation;
  const isDone = project.clock.nowMs() >= doneAtMs();
  const [kind, place] = scope.split('/');
  const placed = place === undefined ? {} : { [kind === 'zones' ? 'zone' : 'region']: linkOf(project, scope) };
  return {
    kind: 'compute#operation',
    id: String(BigInt(`0x${Buffer.from(name.slice(-7)).toString('hex')}`)),
    name,
    ...placed,
    operationType: type,
    targetLink: linkOf(project, target),
    status: isDone ? 'DONE' : 'RUNNING',
    progress: isDone ? 100 : 0,
    user: 'control-plane@test-project.iam.gserviceaccount.com',
    insertTime: rfc3339(insertedAtMs),
    startTime: rfc3339(insertedAtMs),
    ...(isDone ? { endTime: rfc3339(doneAtMs()) } : {}),
    ...(groupId === null ? {} : { operationGroupId: groupId }),
    ...(isDone && error !== null ? { error: { errors: [error] }, ...statusOf(error.code) } : {}),
    ...(perLocation === null
      ? {}
      : {
          instancesBulkInsertOperationMetadata: {
            perLocationStatus: Object.fromEntries(
              Object.entries(perLocation).map(([zone, status]) => [
                `zones/${zone}`,
                { ...status, status: isDone ? 'DONE' : 'CREATING' },
              ]),
            ),
          },
        }),
    selfLink: linkOf(project, `${scope}/operations/${name}`),
  };
}

/** As in operations of real projects in bug reports. */
function statusOf(code: string): { httpErrorStatusCode: number; httpErrorMessage: string } {
  const [httpErrorStatusCode, httpErrorMessage]: [number, string] = /^QUOTA_EXCEEDED|PERMISSION|DENIED/.test(code)
    ? [403, 'FORBIDDEN']
    : /IN_USE|NOT_FOUND|INVALID/.test(code)
      ? [400, 'BAD REQUEST']
      : [503, 'SERVICE UNAVAILABLE'];
  return { httpErrorStatusCode, httpErrorMessage };
}

/** `user`: the instance that it is attached to. */
export const diskOf = (
  project: EmulatedProject,
  { name, zone, labels, createdAtMs }: Disk,
  user: string | null,
): object => ({
  kind: 'compute#disk',
  id: String(createdAtMs),
  name,
  zone: linkOf(project, `zones/${zone}`),
  labels,
  status: 'READY',
  sizeGb: '30',
  ...(user === null ? {} : { users: [linkOf(project, user)] }),
  creationTimestamp: rfc3339(createdAtMs),
  selfLink: linkOf(project, `zones/${zone}/disks/${name}`),
});

export const firewallOf = (project: EmulatedProject, firewall: Firewall): object => ({
  kind: 'compute#firewall',
  id: String(firewall.createdAtMs),
  name: firewall.name,
  description: firewall.description,
  network: firewall.network,
  direction: 'INGRESS',
  priority: 1000,
  disabled: false,
  ...(firewall.sourceRanges.length === 0 ? {} : { sourceRanges: firewall.sourceRanges }),
  ...(firewall.sourceTags.length === 0 ? {} : { sourceTags: firewall.sourceTags }),
  targetTags: firewall.targetTags,
  allowed: [{ IPProtocol: firewall.protocol, ...(firewall.ports.length === 0 ? {} : { ports: firewall.ports }) }],
  creationTimestamp: rfc3339(firewall.createdAtMs),
  selfLink: linkOf(project, `global/firewalls/${firewall.name}`),
});

export const networkOf = (project: EmulatedProject, { name, description }: Network): object => ({
  ...{ kind: 'compute#network', name, description, autoCreateSubnetworks: false },
  selfLink: linkOf(project, `global/networks/${name}`),
});

export const subnetworkOf = (
  project: EmulatedProject,
  { name, region, network, cidr, description }: Subnetwork,
): object => ({
  ...{ kind: 'compute#subnetwork', name, description, ipCidrRange: cidr, privateIpGoogleAccess: true },
  network: linkOf(project, `global/networks/${network}`),
  region: linkOf(project, `regions/${region}`),
  selfLink: linkOf(project, `regions/${region}/subnetworks/${name}`),
});

export const machineTypeOf = (project: EmulatedProject, zone: string, name: string): object => {
  const type = machineTypes.get(name);
  return {
    kind: 'compute#machineType',
    id: '1',
    name,
    guestCpus: type?.vcpus ?? 0,
    memoryMb: type?.memoryMb ?? 0,
    architecture: type?.architecture ?? 'X86_64',
    isSharedCpu: false,
    zone,
    ...(type?.accelerator === null || type === undefined
      ? {}
      : {
          accelerators: [
            { guestAcceleratorType: type.accelerator.type, guestAcceleratorCount: type.accelerator.count },
          ],
        }),
    selfLink: linkOf(project, `zones/${zone}/machineTypes/${name}`),
  };
};
