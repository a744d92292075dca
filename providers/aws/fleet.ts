// CreateFleet of type `instant`: many types and zones in one call, whose answer lists the launched instances and the failed
// pools. It makes one attempt and leaves no fleet to manage: the plan requests the missing instances again.
import { CreateFleetCommand } from '@aws-sdk/client-ec2';
import type { _InstanceType, CreateFleetCommandOutput, FleetLaunchTemplateOverridesRequest } from '@aws-sdk/client-ec2';

import type { AwsClients } from './clients.ts';
import { findOfFleet } from './previous-attempt.ts';
import { accountFor, clientToken, failureOf, tagSpecifications } from './pools.ts';
import type { Pool, RoleLaunch, RoleOutcome } from './pools.ts';

export async function launchFleet(clients: AwsClients, launch: RoleLaunch): Promise<RoleOutcome> {
  const { request, role, count, placement, template, oneZone } = launch;
  const overrides = launch.pools.map(overrideOf);
  // With both options, AWS refuses a launch when not even one instance fits; without them, zones would mix.
  const together = oneZone ? { SingleAvailabilityZone: true, MinTargetCapacity: 1 } : {};
  const command = new CreateFleetCommand({
    Type: 'instant',
    ClientToken: clientToken('fleet', request.token, role),
    LaunchTemplateConfigs: [
      { LaunchTemplateSpecification: { LaunchTemplateName: template, Version: '1' }, Overrides: overrides },
    ],
    TargetCapacitySpecification: { TotalTargetCapacity: count, DefaultTargetCapacityType: placement.market },
    ...(placement.market === 'spot'
      ? {
          SpotOptions: {
            AllocationStrategy: 'price-capacity-optimized',
            InstanceInterruptionBehavior: 'terminate',
            ...together,
          },
        }
      : { OnDemandOptions: { AllocationStrategy: 'prioritized', ...together } }),
    TagSpecifications: tagSpecifications(launch, ['instance', 'volume', 'network-interface', 'fleet']),
  });
  const answer = await clients.limiter.run('change', () => clients.launching.send(command));
  const { FleetId, Instances = [], Errors = [] } = answer;
  const { previousShownMs } = launch;
  const isComplete = Instances.length + Errors.length > 0;
  if (isComplete || FleetId === undefined || previousShownMs === null) return read(answer, launch);
  // The answer to a repeated call may contain only the fleet's id. Treating it as empty would launch everything again.
  const instances = await findOfFleet(clients, FleetId, count, previousShownMs);
  return { instances, failures: accountFor(count - instances.length, [], whereOf(launch)), poolFailures: [] };
}

const overrideOf = ({ type, subnet, priority }: Pool): FleetLaunchTemplateOverridesRequest => ({
  InstanceType: asInstanceType(type),
  SubnetId: subnet.id,
  Priority: priority,
});

/** The SDK lists the types of its release date; ours come from the catalogue, and EC2 refuses unknown types. */
const asInstanceType = (type: string): _InstanceType => type as _InstanceType;

function read(answer: CreateFleetCommandOutput, launch: RoleLaunch): RoleOutcome {
  const { count, placement, pools } = launch;
  const zoneOf = (id: string | undefined): string => pools.find(({ subnet }) => subnet.id === id)?.subnet.zone ?? '';
  const instances = (answer.Instances ?? []).flatMap(({ InstanceIds, InstanceType, LaunchTemplateAndOverrides }) => {
    const { SubnetId, AvailabilityZone } = LaunchTemplateAndOverrides?.Overrides ?? {};
    return (InstanceIds ?? []).map((id) => ({
      id,
      type: InstanceType ?? '',
      zone: AvailabilityZone ?? zoneOf(SubnetId),
    }));
  });
  const failures = (answer.Errors ?? []).map(({ ErrorCode, ErrorMessage, LaunchTemplateAndOverrides }) => {
    const { InstanceType, SubnetId, AvailabilityZone } = LaunchTemplateAndOverrides?.Overrides ?? {};
    const pool = { type: InstanceType ?? '', zone: AvailabilityZone ?? zoneOf(SubnetId), market: placement.market };
    const { requestId = '' } = answer.$metadata;
    return failureOf(pool, { code: ErrorCode ?? '', message: ErrorMessage ?? '', requestId });
  });
  return {
    instances,
    failures: accountFor(count - instances.length, failures, whereOf(launch)),
    poolFailures: failures,
  };
}

/** The zone and market of the missing instances. */
function whereOf({ pools, placement }: RoleLaunch) {
  const zones = new Set(pools.map(({ subnet }) => subnet.zone));
  return { zone: zones.size === 1 ? (pools[0]?.subnet.zone ?? '') : '', market: placement.market };
}
