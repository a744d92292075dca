// Security groups: one name once in a network, rules once in a group, not deletable while an instance uses them, and eventually consistent.
import { AwsError } from '../aws-error.ts';
import { fixedRules, hexId, stateAt } from '../state.ts';
import type { SecurityGroup } from '../state.ts';
import type { Xml } from '../xml.ts';
import { matches, page, readTags, tagSet } from './call.ts';
import { vpcOf } from './network.ts';
import { maxRules, readRules } from './rules.ts';
import type { Call, Operation } from './call.ts';

export const createSecurityGroup: Operation = (call) => {
  const name = call.params.text('GroupName') ?? '';
  const vpc = call.params.text('VpcId') ?? '';
  const description = call.params.text('GroupDescription') ?? '';
  vpcOf(call, vpc);
  checkText('group name', name);
  checkText('group description', description);
  if (name === 'default')
    throw new AwsError('InvalidParameterValue', 'Cannot use reserved security group name: default');
  if (name.startsWith('sg-')) throw new AwsError('InvalidParameterValue', `Group names may not be in the format sg-*.`);
  if ([...call.region.groups.values()].some((group) => group.name === name && group.vpc === vpc)) {
    throw new AwsError('InvalidGroup.Duplicate', `The security group '${name}' already exists for VPC '${vpc}'`);
  }
  const tags = readTags(call, 'security-group');
  const shownFromMs = call.nowMs + call.account.delays.visibleMs;
  const group: SecurityGroup = { id: hexId('sg'), name, vpc, description, tags, rules: [], shownFromMs };
  call.region.groups.set(group.id, group);
  return { groupId: group.id, tagSet: tagSet(tags) };
};

export const authorizeSecurityGroupIngress: Operation = (call) => {
  const group = groupOf(call, call.params.text('GroupId') ?? '');
  const rules = rulesIn(call);
  // One existing rule fails the whole call.
  const known = rules.find((rule) => group.rules.includes(rule));
  if (group.rules.length + rules.length > maxRules) {
    throw new AwsError(
      'RulesPerSecurityGroupLimitExceeded',
      'The maximum number of rules per security group has been reached.',
    );
  }
  if (known !== undefined) {
    const [, port, peer] = known.split(' ');
    const what = `peer: ${peer}, TCP, from port: ${port}, to port: ${port}, ALLOW`;
    throw new AwsError('InvalidPermission.Duplicate', `the specified rule "${what}" already exists`);
  }
  group.rules.push(...rules);
  return { return: true };
};

export const revokeSecurityGroupIngress: Operation = (call) => {
  const group = groupOf(call, call.params.text('GroupId') ?? '');
  const rules = rulesIn(call);
  if (rules.some((rule) => !group.rules.includes(rule))) {
    throw new AwsError('InvalidPermission.NotFound', 'The specified rule does not exist in this security group.');
  }
  group.rules = group.rules.filter((rule) => !rules.includes(rule));
  return { return: true };
};

const rulesIn = (call: Call): string[] => readRules(call.params.items('IpPermissions'), (id) => groupOf(call, id).id);

export const deleteSecurityGroup: Operation = (call) => {
  const group = groupOf(call, call.params.text('GroupId') ?? '');
  const isHeld = [...call.region.instances.values()].some(
    (instance) => instance.data.securityGroups.includes(group.id) && stateAt(instance, call.nowMs) !== 'terminated',
  );
  const isNamed = [...call.region.groups.values()].some(
    ({ id, rules }) => id !== group.id && rules.some((rule) => rule.endsWith(` ${group.id}`)),
  );
  if (isHeld || isNamed) throw new AwsError('DependencyViolation', `resource ${group.id} has a dependent object`);
  call.region.groups.delete(group.id);
  return { return: true, groupId: group.id };
};

export const describeSecurityGroups: Operation = (call) => {
  const ids = call.params.texts('GroupId');
  if (ids.length > 0 && call.params.text('MaxResults') !== null) {
    throw new AwsError('InvalidParameterCombination', 'The parameter groupIds cannot be used with maxResults');
  }
  const given = call.region.securityGroups.map((id) => ({
    ...{ id, name: id, vpc: `vpc-${call.region.name}`, description: 'emulated' },
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
      return [group.vpc];
    case 'group-id':
      return [group.id];
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

/** The characters that EC2 allows in a name or description. */
function checkText(what: string, text: string): void {
  if (text === '') throw new AwsError('MissingParameter', `The request must contain the parameter ${what}`);
  if (text.length <= 255 && /^[A-Za-z0-9. _\-:/()#,@[\]+=&;{}!$*]+$/.test(text)) return;
  throw new AwsError(
    'InvalidParameterValue',
    `Value (${text}) for parameter ${what} is invalid. Character sets beyond ASCII are not supported.`,
  );
}

const shown = (call: Call, { id, name, vpc, description, tags, rules }: SecurityGroup): Xml => ({
  ownerId: call.account.accountId,
  groupId: id,
  groupName: name,
  groupDescription: description,
  vpcId: vpc,
  ipPermissions: rules.map((rule) => {
    const [ipProtocol = '', port = '', cidr = ''] = rule.split(' ');
    if (cidr.startsWith('sg-')) return { ipProtocol, groups: [{ groupId: cidr, userId: call.account.accountId }] };
    const ranges = cidr.includes(':') ? { ipv6Ranges: [{ cidrIpv6: cidr }] } : { ipRanges: [{ cidrIp: cidr }] };
    return { ipProtocol, fromPort: Number(port), toPort: Number(port), ...ranges };
  }),
  tagSet: tagSet(tags),
});
