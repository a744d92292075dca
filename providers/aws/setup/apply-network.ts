// Applies the steps of a region's network, one call each.
import {
  AssociateRouteTableCommand,
  AttachInternetGatewayCommand,
  AuthorizeSecurityGroupIngressCommand,
  CreateInternetGatewayCommand,
  CreateRouteCommand,
  CreateRouteTableCommand,
  CreateSecurityGroupCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  ModifyVpcAttributeCommand,
  type ResourceType,
  RevokeSecurityGroupIngressCommand,
  type TagSpecification,
} from '@aws-sdk/client-ec2';

import { defaultSchedulerPort } from '../../../domain/cluster/capacity/ingress-rules.ts';
import type { SetupStep } from '../../manifest.ts';
import { type Calls, explained, settled } from './calls.ts';
import type { FoundNetwork, GroupRole, NetworkChange, NetworkStep } from './plan-network.ts';
import { everywhere, setupTags, type Wanted } from './wanted.ts';

/** Ids for later steps; those of existing resources are known from the start. */
interface Ids {
  vpc: string;
  gateway: string;
  routes: string;
  subnets: Map<string, string>;
  groups: Map<GroupRole, string>;
}

/** The ids of a region's network, for its settings. */
export interface PreparedNetwork {
  region: string;
  subnets: { id: string; zone: string }[];
  groups: Record<GroupRole, string>;
}

export async function applyNetwork(
  calls: Calls,
  { found, wanted, steps }: { found: FoundNetwork; wanted: Wanted; steps: readonly NetworkStep[] },
  onDone: (step: SetupStep) => void,
): Promise<PreparedNetwork> {
  const ids: Ids = {
    vpc: found.vpc?.id ?? '',
    gateway: found.gateway?.id ?? '',
    routes: found.routes?.id ?? '',
    subnets: new Map(found.subnets.map(({ id, zone }) => [zone, id])),
    groups: new Map(
      (['cluster', 'scheduler'] as const).flatMap((role) => {
        const group = found.groups[role];
        return group === null ? [] : [[role, group.id] as const];
      }),
    ),
  };
  for (const { change, ...step } of steps) {
    calls.signal.throwIfAborted();
    if (change === null) continue;
    const what = `${step.action} ${step.kind} ${step.name} in ${found.region}`;
    const id = await perform(calls, wanted, ids, change).catch((error: unknown) => {
      throw explained(what, error);
    });
    onDone({ ...step, id: step.id ?? id });
  }
  const groupOf = (role: GroupRole): string => ids.groups.get(role) ?? '';
  return {
    region: found.region,
    subnets: [...ids.subnets].map(([zone, id]) => ({ id, zone })),
    groups: { cluster: groupOf('cluster'), scheduler: groupOf('scheduler') },
  };
}

/** Returns the id of the created or changed resource. */
async function perform(calls: Calls, wanted: Wanted, ids: Ids, change: NetworkChange): Promise<string> {
  const { ec2 } = calls;
  switch (change.do) {
    case 'createVpc': {
      const TagSpecifications = tagged('vpc', wanted);
      const { Vpc } = await ec2.send(new CreateVpcCommand({ CidrBlock: change.cidr, TagSpecifications }));
      return (ids.vpc = Vpc?.VpcId ?? '');
    }
    case 'nameHosts':
      await settled(calls, () =>
        ec2.send(new ModifyVpcAttributeCommand({ VpcId: ids.vpc, EnableDnsHostnames: { Value: true } })),
      );
      return ids.vpc;
    case 'createGateway': {
      const TagSpecifications = tagged('internet-gateway', wanted);
      const { InternetGateway } = await ec2.send(new CreateInternetGatewayCommand({ TagSpecifications }));
      return (ids.gateway = InternetGateway?.InternetGatewayId ?? '');
    }
    case 'attachGateway': {
      const attach = new AttachInternetGatewayCommand({ InternetGatewayId: ids.gateway, VpcId: ids.vpc });
      await settled(calls, () => ec2.send(attach), ['Resource.AlreadyAssociated']);
      return ids.gateway;
    }
    case 'createRoutes': {
      const create = new CreateRouteTableCommand({ VpcId: ids.vpc, TagSpecifications: tagged('route-table', wanted) });
      const made = await settled(calls, () => ec2.send(create));
      return (ids.routes = made?.RouteTable?.RouteTableId ?? '');
    }
    case 'leadOut': {
      const to = { RouteTableId: ids.routes, DestinationCidrBlock: everywhere, GatewayId: ids.gateway };
      await settled(calls, () => ec2.send(new CreateRouteCommand(to)), ['RouteAlreadyExists']);
      return ids.routes;
    }
    case 'createSubnet': {
      const { zone, cidr } = change;
      const place = { VpcId: ids.vpc, AvailabilityZone: zone, CidrBlock: cidr };
      const TagSpecifications = tagged('subnet', wanted, `${wanted.name}-${zone}`);
      const made = await settled(calls, () => ec2.send(new CreateSubnetCommand({ ...place, TagSpecifications })));
      const id = made?.Subnet?.SubnetId ?? '';
      ids.subnets.set(zone, id);
      return id;
    }
    case 'associate': {
      const SubnetId = ids.subnets.get(change.zone) ?? '';
      const associate = new AssociateRouteTableCommand({ RouteTableId: ids.routes, SubnetId });
      await settled(calls, () => ec2.send(associate), ['Resource.AlreadyAssociated']);
      return SubnetId;
    }
    case 'createGroup': {
      const GroupName = `${wanted.name}-${change.role}`;
      const Description = descriptions[change.role];
      const TagSpecifications = tagged('security-group', wanted, GroupName);
      const create = new CreateSecurityGroupCommand({ GroupName, Description, VpcId: ids.vpc, TagSpecifications });
      const made = await settled(calls, () => ec2.send(create));
      const id = made?.GroupId ?? '';
      ids.groups.set(change.role, id);
      return id;
    }
    case 'allow':
    case 'revoke': {
      const GroupId = ids.groups.get(change.role) ?? '';
      const IpPermissions = [permissionOf(change.range, GroupId)];
      const rule = { GroupId, IpPermissions };
      const send = (): Promise<unknown> =>
        change.do === 'allow'
          ? ec2.send(new AuthorizeSecurityGroupIngressCommand(rule))
          : ec2.send(new RevokeSecurityGroupIngressCommand(rule));
      await settled(calls, send, ['InvalidPermission.Duplicate', 'InvalidPermission.NotFound']);
      return GroupId;
    }
  }
}

const descriptions: Record<GroupRole, string> = {
  cluster: 'Instances of Ropewalk reach each other',
  scheduler: 'Who may reach Dask schedulers of Ropewalk',
};

/** Without a range, allows all traffic from the group itself. */
const permissionOf = (range: string | null, GroupId: string) => {
  if (range === null) return { IpProtocol: '-1', UserIdGroupPairs: [{ GroupId }] };
  const ranges = range.includes(':') ? { Ipv6Ranges: [{ CidrIpv6: range }] } : { IpRanges: [{ CidrIp: range }] };
  return { IpProtocol: 'tcp', FromPort: defaultSchedulerPort, ToPort: defaultSchedulerPort, ...ranges };
};

const tagged = (ResourceType: ResourceType, wanted: Wanted, label?: string): TagSpecification[] => [
  { ResourceType, Tags: setupTags(wanted, label) },
];
