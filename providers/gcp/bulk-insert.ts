// The body of regionInstances.bulkInsert for the instances of one role.
import type { protos } from '@google-cloud/compute';

import { gceBootKey } from '../../domain/cloud-names.ts';
import type { InstanceRole } from '../../domain/cluster/state.ts';
import type { LaunchRequest, Placement } from '../provider.ts';
import { isCustom } from './custom-types.ts';
import { bootDiskOf, canMigrate, hasGpu, iopsFor, parseType } from './machine-types.ts';
import { labelsOf, ownerName } from './names.ts';
import { type GcpSettings, serviceAccountOf } from './settings.ts';
import { renderStartupScript } from './startup-script.ts';

type Body = protos.google.cloud.compute.v1.IBulkInsertInstanceResource;
type Disk = protos.google.cloud.compute.v1.IAttachedDisk;

export interface RoleInsert {
  request: LaunchRequest;
  role: InstanceRole;
  placement: Placement;
  /** Acceptable zones; never empty. */
  zones: string[];
  /** One name for each instance. */
  names: string[];
}

export function bulkInsertBody(settings: GcpSettings, insert: RoleInsert): Body {
  const { request, role, placement, zones, names } = insert;
  const types = launchedTogether(placement.types);
  const first = parseType(types[0] ?? '');
  const isSpot = placement.market === 'spot';
  // Instances that can migrate to another host do; others terminate with their host.
  const migrates = !isSpot && types.every(canMigrate);
  const { ingress } = request.placement ?? {};
  const isReachable = role === 'head' && ingress !== undefined;
  const schedulerTags =
    role === 'head' && (ingress === undefined || ingress.scheduler === null) ? settings.networkTags.scheduler : [];
  const disk = (machineType: string): Disk => bootDisk(settings, insert, machineType);
  return {
    count: names.length,
    minCount: 1,
    perInstanceProperties: Object.fromEntries(names.map((name) => [name, {}])),
    locationPolicy: {
      targetShape: request.placement?.oneZone === true ? 'ANY_SINGLE_ZONE' : 'ANY',
      ...zonesOf(settings.zones, zones),
    },
    ...(types.length === 1 ? {} : { instanceFlexibilityPolicy: { instanceSelections: selectionsOf(types, disk) } }),
    instanceProperties: {
      // With several types, the flexibility policy names the machine types.
      ...(types.length === 1 ? { machineType: first.machineType } : {}),
      labels: { ...request.placement?.tags, ...labelsOf(request.owner), 'ropewalk-role': role },
      tags: {
        items: [...settings.networkTags.cluster, ...schedulerTags, ...(isReachable ? [ownerName(request.owner)] : [])],
      },
      metadata: {
        items: [
          { key: 'startup-script', value: renderStartupScript(settings.agent, placement.architecture) },
          { key: gceBootKey, value: bootOf(request) },
        ],
      },
      disks: [disk(first.machineType)],
      networkInterfaces: [
        {
          network: `projects/${settings.project}/global/networks/${settings.network}`,
          subnetwork: `projects/${settings.project}/regions/${settings.region}/subnetworks/${settings.subnetwork}`,
          accessConfigs: settings.assignPublicIps ? [{ type: 'ONE_TO_ONE_NAT', name: 'External NAT' }] : [],
        },
      ],
      serviceAccounts: [
        {
          email: serviceAccountOf(settings, request.owner.workspace),
          scopes: ['https://www.googleapis.com/auth/cloud-platform'],
        },
      ],
      guestAccelerators:
        first.accelerator === null
          ? []
          : [{ acceleratorType: first.accelerator.type, acceleratorCount: first.accelerator.count }],
      scheduling: {
        provisioningModel: isSpot ? 'SPOT' : 'STANDARD',
        instanceTerminationAction: 'DELETE',
        // A cluster replaces instances itself; a restarted one would have lost its work and its claim.
        automaticRestart: false,
        onHostMaintenance: migrates ? 'MIGRATE' : 'TERMINATE',
        maxRunDuration: { seconds: settings.maxRunDays * 86_400 },
      },
    },
  };
}

/** The map of preferences takes no zone for AI, such as us-central1-ai1a; the list does (GoogleCloudPlatform/cluster-toolkit, 5378). */
const zonesOf = (all: readonly string[], wanted: readonly string[]): Body['locationPolicy'] =>
  all.some((zone) => /-ai\d+[a-z]$/.test(zone))
    ? { zones: wanted.map((zone) => ({ zone: `zones/${zone}` })) }
    : {
        locations: Object.fromEntries(
          all.map((zone) => [`zones/${zone}`, { preference: wanted.includes(zone) ? 'ALLOW' : 'DENY' }]),
        ),
      };

/** The agent's boot data; its launch token is useless without the instance's identity token. */
const bootOf = ({ apiUrl, launchToken, owner }: LaunchRequest): string =>
  JSON.stringify({ apiUrl, launchToken, owner });

/**
 * Accelerators are attached for the whole request, so types with others than the first type's are excluded. A custom type is requested alone: Google's
 * documentation does not say that instance flexibility takes one. When the first type is unavailable, the next launch begins with the next type.
 */
function launchedTogether(types: readonly string[]): string[] {
  const key = (name: string): string => JSON.stringify(parseType(name).accelerator);
  const [first = ''] = types;
  if (isCustom(first)) return [first];
  return types.filter((name) => key(name) === key(first) && !isCustom(name));
}

/** Ranked in the requested order. */
function selectionsOf(types: readonly string[], disk: (machineType: string) => Disk) {
  return Object.fromEntries(
    types.map((name, rank) => {
      const { machineType } = parseType(name);
      return [`choice-${rank}`, { machineTypes: [machineType], rank, disks: [disk(machineType)] }];
    }),
  );
}

/** A selection's disk replaces the disk of the instance properties with the same device name (GitLab's docker-machine, 173). */
const bootDevice = 'boot';

function bootDisk(settings: GcpSettings, { request, placement }: RoleInsert, machineType: string): Disk {
  const needsDriver = placement.types.some(hasGpu) && settings.gpuImage !== null;
  return {
    boot: true,
    autoDelete: true,
    deviceName: bootDevice,
    initializeParams: {
      sourceImage: needsDriver ? settings.gpuImage : settings.images[placement.architecture],
      diskSizeGb: placement.diskGib,
      diskType: bootDiskOf(machineType),
      labels: { ...request.placement?.tags, ...labelsOf(request.owner) },
      ...(placement.diskThroughput !== undefined && bootDiskOf(machineType) === 'hyperdisk-balanced'
        ? { provisionedIops: iopsFor(placement.diskThroughput), provisionedThroughput: placement.diskThroughput }
        : {}),
    },
  };
}
