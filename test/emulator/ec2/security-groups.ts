// Security groups: one name once in a network, rules once in a group, not to be deleted while an instance has it, and not
// known everywhere at once.
import { AwsError } from '../aws-error.ts';
import { fixedRules, hexId, stateAt } from '../state.ts';
import type { SecurityGroup } from '../state.ts';
import type { Xml } from '../xml.ts';
import { matches, page, readTags, tagSet } from './call.ts';
import type { Call, Operation } from './call.ts';

export const createSecurityGroup: Operation = (call) => {
  const name = call.params.text('GroupName') ?? '';
  const vpc = call.params.text('VpcId') ?? '';
  if (vpc !== vpcOf(call)) throw new AwsError('InvalidVpcID.NotFound', `The vpc ID '${vpc}' does not exist`);
  if ([...call.region.groups.values()].some((group) => group.name === name)) {
    throw new AwsError('InvalidGroup.Duplicate', `The security group '${name}' already exists for VPC '${vpc}'`);
  }
  const tags = readTags(call, 'security-group');
  const shownFromMs = call.nowMs + call.world.delays.visibleMs;
  const group: SecurityGroup = { id: hexId('sg'), name, tags, rules: [], shownFromMs };
  call.region.groups.set(group.id, group);
  return { groupId: group.id, tagSet: tagSet(tags) };
};

export const authorizeSecurityGroupIngress: Operation = (call) => {
  const group = groupOf(call, call.params.text('GroupId') ?? '');
  for (const permission of call.params.items('IpPermissions')) {
    const ranges = [
      ...permission.items('IpRanges').map((range) => range.text('CidrIp')),
      ...permission.items('Ipv6Ranges').map((range) => range.text('CidrIpv6')),
    ];
    for (const cidr of ranges) {
      const [protocol, port] = [permission.text('IpProtocol'), permission.text('FromPort')];
      const rule = `${protocol} ${port} ${cidr}`;
      if (group.rules.includes(rule)) {
        const what = `peer: ${cidr}, TCP, from port: ${port}, to port: ${port}, ALLOW`;
        throw new AwsError('InvalidPermission.Duplicate', `the specified rule "${what}" already exists`);
      }
      group.rules.push(rule);
    }
  }
  return { return: true };
};

export const deleteSecurityGroup: Operation = (call) => {
  const group = groupOf(call, call.params.text('GroupId') ?? '');
  const isHeld = [...call.region.instances.values()].some(
    (instance) => instance.data.securityGroups.includes(group.id) && stateAt(instance, call.nowMs) !== 'terminated',
  );
  if (isHeld) throw new AwsError('DependencyViolation', `resource ${group.id} has a dependent object`);
  call.region.groups.delete(group.id);
  return { return: true, groupId: group.id };
};

export const describeSecurityGroups: Operation = (call) => {
  const ids = call.params.texts('GroupId');
  if (ids.length > 0 && call.params.text('MaxResults') !== null) {
    throw new AwsError('InvalidParameterCombination', 'The parameter groupIds cannot be used with maxResults');
  }
  const given = call.region.securityGroups.map((id) => ({
    id,
    name: id,
    tags: {},
    rules: fixedRules[id] ?? [],
    shownFromMs: 0,
  }));
  for (const id of ids) if (!given.some((each) => each.id === id)) groupOf(call, id);
  const found = [...given, ...call.region.groups.values()].filter(
    (group) =>
      call.nowMs >= group.shownFromMs &&
      (ids.length === 0 || ids.includes(group.id)) &&
      matches(call, (name) => valuesOf(call, group, name)),
  );
  const { items, nextToken } = page(call, found, 1_000);
  return { securityGroupInfo: items.map((group) => shown(call, group)), nextToken };
};

function valuesOf(call: Call, group: SecurityGroup, name: string): string[] | null {
  if (name.startsWith('tag:')) return [group.tags[name.slice(4)]].filter((value) => value !== undefined);
  switch (name) {
    case 'group-name':
      return [group.name];
    case 'vpc-id':
      return [vpcOf(call)];
    case 'tag-key':
      return Object.keys(group.tags);
    default:
      return null;
  }
}

function groupOf(call: Call, id: string): SecurityGroup {
  const found = call.region.groups.get(id);
  if (found !== undefined && call.nowMs >= found.shownFromMs) return found;
  throw new AwsError('InvalidGroup.NotFound', `The security group '${id}' does not exist`);
}

const vpcOf = ({ region }: Call): string => `vpc-${region.name}`;

const shown = (call: Call, { id, name, tags, rules }: SecurityGroup): Xml => ({
  ownerId: call.world.accountId,
  groupId: id,
  groupName: name,
  groupDescription: 'emulated',
  vpcId: vpcOf(call),
  ipPermissions: rules.map((rule) => {
    const [ipProtocol = '', port = '', cidr = ''] = rule.split(' ');
    const ranges = cidr.includes(':') ? { ipv6Ranges: [{ cidrIpv6: cidr }] } : { ipRanges: [{ cidrIp: cidr }] };
    return { ipProtocol, fromPort: Number(port), toPort: Number(port), ...ranges };
  }),
  tagSet: tagSet(tags),
});
