// Finds the network of a prepared region: setup's own by tags, or the VPC and subnets that the operator named.
import {
  DescribeAvailabilityZonesCommand,
  DescribeInternetGatewaysCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcAttributeCommand,
  DescribeVpcsCommand,
  type EC2Client,
  type Filter,
  type IpPermission,
  type RouteTable,
  type Subnet,
} from '@aws-sdk/client-ec2';

import { defaultSchedulerPort } from '../../../domain/cluster/capacity/ingress-rules.ts';
import { RopewalkError } from '../../../domain/errors.ts';
import { tagFilters } from '../tags.ts';
import { clientRule, clusterRule, type FoundNetwork, type GroupRole } from './plan-network.ts';
import { everywhere, isOwn, setupTags, type Wanted } from './wanted.ts';

export async function findNetwork(ec2: EC2Client, region: string, wanted: Wanted): Promise<FoundNetwork> {
  const own = tagFilters(setupTags(wanted).slice(0, 2));
  const zones = await zonesOf(ec2);
  const network = wanted.network === null ? await ownNetwork(ec2, own) : await givenNetwork(ec2, wanted.network);
  const groups = await groupsIn(ec2, network.vpc?.id ?? null, wanted);
  return { region, zones, ...network, groups, isGiven: wanted.network !== null };
}

type Network = Pick<FoundNetwork, 'vpc' | 'gateway' | 'subnets' | 'routes'>;

async function ownNetwork(ec2: EC2Client, Filters: Filter[]): Promise<Network> {
  const [{ Vpcs = [] }, { InternetGateways = [] }, { Subnets = [] }, { RouteTables = [] }] = await Promise.all([
    ec2.send(new DescribeVpcsCommand({ Filters })),
    ec2.send(new DescribeInternetGatewaysCommand({ Filters })),
    ec2.send(new DescribeSubnetsCommand({ Filters })),
    ec2.send(new DescribeRouteTablesCommand({ Filters })),
  ]);
  const [vpc] = Vpcs;
  const id = vpc?.VpcId;
  const [gateway] = InternetGateways;
  const [table] = RouteTables;
  return {
    vpc: id === undefined ? null : { id, cidr: vpc?.CidrBlock ?? '', hostNames: await namesHosts(ec2, id) },
    gateway:
      gateway?.InternetGatewayId === undefined
        ? null
        : { id: gateway.InternetGatewayId, vpc: gateway.Attachments?.[0]?.VpcId ?? null },
    subnets: Subnets.map(shown),
    routes:
      table?.RouteTableId === undefined
        ? null
        : { id: table.RouteTableId, leadsOut: leadsOut(table), subnets: subnetsOf(table) },
  };
}

const shown = ({ SubnetId = '', AvailabilityZone = '', CidrBlock = '' }: Subnet) => ({
  id: SubnetId,
  zone: AvailabilityZone,
  cidr: CidrBlock,
});
const leadsOut = ({ Routes = [] }: RouteTable): boolean =>
  Routes.some(
    ({ DestinationCidrBlock, State, GatewayId, NatGatewayId, TransitGatewayId }) =>
      DestinationCidrBlock === everywhere &&
      State !== 'blackhole' &&
      (GatewayId ?? NatGatewayId ?? TransitGatewayId) !== undefined,
  );
const subnetsOf = ({ Associations = [] }: RouteTable): string[] =>
  Associations.flatMap(({ SubnetId }) => (SubnetId === undefined ? [] : [SubnetId]));

async function namesHosts(ec2: EC2Client, VpcId: string): Promise<boolean> {
  const { EnableDnsHostnames } = await ec2.send(
    new DescribeVpcAttributeCommand({ VpcId, Attribute: 'enableDnsHostnames' }),
  );
  return EnableDnsHostnames?.Value === true;
}

async function zonesOf(ec2: EC2Client): Promise<string[]> {
  const Filters = [
    { Name: 'zone-type', Values: ['availability-zone'] },
    { Name: 'opt-in-status', Values: ['opt-in-not-required'] },
  ];
  const { AvailabilityZones = [] } = await ec2.send(new DescribeAvailabilityZonesCommand({ Filters }));
  return AvailabilityZones.flatMap(({ ZoneName }) => ZoneName ?? []).toSorted((a, b) => a.localeCompare(b));
}

async function givenNetwork(
  ec2: EC2Client,
  { id, subnets: ids }: { id: string; subnets: readonly string[] },
): Promise<Network> {
  const { Vpcs = [] } = await ec2.send(new DescribeVpcsCommand({ VpcIds: [id] }));
  const inVpc = [{ Name: 'vpc-id', Values: [id] }];
  const { Subnets = [] } = await ec2.send(new DescribeSubnetsCommand({ Filters: inVpc }));
  const { RouteTables = [] } = await ec2.send(new DescribeRouteTablesCommand({ Filters: inVpc }));
  const subnets = (ids.length === 0 ? Subnets : Subnets.filter(({ SubnetId = '' }) => ids.includes(SubnetId))).map(
    shown,
  );
  const missing = ids.filter((each) => !subnets.some((subnet) => subnet.id === each));
  if (missing.length > 0) throw refused(`${id} has no subnet ${missing.join(', ')}.`, 'Name subnets of that VPC.');
  const twice = subnets.find(({ zone }, at) => subnets.findIndex((other) => other.zone === zone) !== at);
  if (twice !== undefined) {
    throw refused(`${id} has several subnets in ${twice.zone}.`, 'Name one of each zone with --subnet.');
  }
  if (subnets.length === 0) throw refused(`${id} has no subnet.`, 'Leave --network away: setup then creates a VPC.');
  const main = RouteTables.find(({ Associations = [] }) => Associations.some(({ Main }) => Main === true));
  const shut = subnets.filter((subnet) => {
    const table = RouteTables.find((each) => subnetsOf(each).includes(subnet.id)) ?? main;
    return table === undefined || !leadsOut(table);
  });
  if (shut.length > 0) {
    const message = `${shut.map((subnet) => subnet.id).join(', ')} has no route to ${everywhere}: agents could not reach the API.`;
    throw refused(
      message,
      'Add a route to an internet gateway, a NAT gateway or a transit gateway, or name other subnets.',
    );
  }
  return { vpc: { id, cidr: Vpcs[0]?.CidrBlock ?? '', hostNames: true }, gateway: null, subnets, routes: null };
}

async function groupsIn(ec2: EC2Client, vpc: string | null, wanted: Wanted): Promise<FoundNetwork['groups']> {
  if (vpc === null) return { cluster: null, scheduler: null };
  const roles: GroupRole[] = ['cluster', 'scheduler'];
  const Filters = [
    { Name: 'vpc-id', Values: [vpc] },
    { Name: 'group-name', Values: roles.map((role) => `${wanted.name}-${role}`) },
  ];
  const { SecurityGroups = [] } = await ec2.send(new DescribeSecurityGroupsCommand({ Filters }));
  const groupOf = (role: GroupRole): { id: string; rules: string[] } | null => {
    const found = SecurityGroups.find(({ GroupName }) => GroupName === `${wanted.name}-${role}`);
    if (found?.GroupId === undefined) return null;
    if (!isOwn(found.Tags, wanted)) {
      const message = `${vpc} has a security group ${found.GroupName} that this deployment did not create.`;
      throw refused(message, 'Choose another name with --name.');
    }
    return {
      id: found.GroupId,
      rules: (found.IpPermissions ?? []).flatMap((each) => rulesIn(each, found.GroupId ?? '')),
    };
  };
  return { cluster: groupOf('cluster'), scheduler: groupOf('scheduler') };
}

function rulesIn(permission: IpPermission, group: string): string[] {
  const { IpProtocol, FromPort, ToPort, IpRanges = [], Ipv6Ranges = [], UserIdGroupPairs = [] } = permission;
  const ranges = [...IpRanges.map(({ CidrIp = '' }) => CidrIp), ...Ipv6Ranges.map(({ CidrIpv6 = '' }) => CidrIpv6)];
  const isClient = IpProtocol === 'tcp' && FromPort === defaultSchedulerPort && ToPort === defaultSchedulerPort;
  const isSelf = IpProtocol === '-1' && UserIdGroupPairs.some(({ GroupId }) => GroupId === group);
  return [
    ...ranges.map((range) =>
      isClient ? clientRule(range) : `${IpProtocol} ${FromPort ?? ''}-${ToPort ?? ''} from ${range}`,
    ),
    ...(isSelf ? [clusterRule] : []),
  ];
}

const refused = (message: string, hint: string): RopewalkError =>
  new RopewalkError({ code: 'CONFLICT', message, hint });
