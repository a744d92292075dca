// Subnets: inside their VPC, without overlap, and not deletable while an instance has an address in them.
import { AwsError } from '../aws-error.ts';
import { stateAt } from '../state.ts';
import type { Subnet } from '../state.ts';
import type { Xml } from '../xml.ts';
import { matches, page, tagSet } from './call.ts';
import type { Call, Operation } from './call.ts';
import { isInside, overlaps, readRange } from './cidr.ts';
import { created, inUse, tagValues, vpcOf } from './network.ts';

export const createSubnet: Operation = (call) => {
  const vpc = vpcOf(call, call.params.text('VpcId') ?? '');
  const cidr = call.params.text('CidrBlock') ?? '';
  const zone = call.params.text('AvailabilityZone') ?? call.region.zones[0] ?? '';
  if (!call.region.zones.includes(zone)) {
    const message = `Value (${zone}) for parameter availabilityZone is invalid. Subnets can currently only be created in the following availability zones: ${call.region.zones.join(', ')}.`;
    throw new AwsError('InvalidParameterValue', message);
  }
  const [range, around] = [readRange(cidr), readRange(vpc.cidr)];
  if (range === null || around === null || !isInside(range, around) || range.prefix > 28) {
    throw new AwsError('InvalidSubnet.Range', `The CIDR '${cidr}' is invalid.`);
  }
  const others = call.region.subnets.filter((other) => other.vpc === vpc.id).map((other) => readRange(other.cidr));
  if (others.some((other) => other !== null && overlaps(other, range))) {
    throw new AwsError('InvalidSubnet.Conflict', `The CIDR '${cidr}' conflicts with another subnet`);
  }
  // AWS reserves five addresses of each.
  const free = range.to - range.from + 1 - 5;
  const subnet: Subnet = { ...created(call, 'subnet', 'subnet'), zone, free, vpc: vpc.id, cidr };
  call.region.subnets.push(subnet);
  return { subnet: shown(call, subnet) };
};

export const describeSubnets: Operation = (call) => {
  const ids = call.params.texts('SubnetId');
  for (const id of ids) subnetOf(call, id);
  const found = call.region.subnets.filter(
    (subnet) =>
      call.nowMs >= subnet.shownFromMs &&
      (ids.length === 0 || ids.includes(subnet.id)) &&
      matches(call, (name) => {
        if (name === 'vpc-id') return [subnet.vpc];
        if (name === 'subnet-id') return [subnet.id];
        if (name === 'availability-zone') return [subnet.zone];
        return tagValues(subnet.tags, name);
      }),
  );
  const { items, nextToken } = page(call, found);
  return { subnetSet: items.map((subnet) => shown(call, subnet)), nextToken };
};

export const deleteSubnet: Operation = (call) => {
  const subnet = subnetOf(call, call.params.text('SubnetId') ?? '');
  const isHeld = [...call.region.instances.values()].some(
    (instance) => instance.subnet === subnet.id && stateAt(instance, call.nowMs) !== 'terminated',
  );
  if (isHeld) throw inUse(`The subnet '${subnet.id}' has dependencies and cannot be deleted.`);
  call.region.subnets = call.region.subnets.filter(({ id }) => id !== subnet.id);
  for (const { subnets } of call.region.routeTables.values()) {
    for (const [association, id] of subnets) if (id === subnet.id) subnets.delete(association);
  }
  return { return: true };
};

export function subnetOf(call: Call, id: string): Subnet {
  const found = call.region.subnets.find((subnet) => subnet.id === id);
  if (found !== undefined && call.nowMs >= found.shownFromMs) return found;
  throw new AwsError('InvalidSubnetID.NotFound', `The subnet ID '${id}' does not exist`);
}

const shown = (call: Call, { id, zone, free, vpc, cidr, tags }: Subnet): Xml => ({
  subnetId: id,
  ownerId: call.account.accountId,
  vpcId: vpc,
  cidrBlock: cidr,
  availabilityZone: zone,
  availableIpAddressCount: free,
  mapPublicIpOnLaunch: false,
  state: 'available',
  tagSet: tagSet(tags),
});
