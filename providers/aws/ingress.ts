// A security group for one cluster, with the ingress rules of the request in addition to the account's groups. It is created
// before the head instance is launched, named and tagged by its cluster, and deleted after the cluster has ended. Names are
// unique in a network, so a second attempt, after a crash or at the same time, finds the first one's group.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  AuthorizeSecurityGroupIngressCommand,
  CreateSecurityGroupCommand,
  DeleteSecurityGroupCommand,
  DescribeSecurityGroupsCommand,
  paginateDescribeSecurityGroups,
} from '@aws-sdk/client-ec2';
import type { Filter, SecurityGroup } from '@aws-sdk/client-ec2';

import { portsOf, type IngressRules } from '../../domain/cluster/capacity/ingress-rules.ts';
import type { InstanceRole } from '../../domain/cluster/state.ts';
import { ownerKey } from '../../domain/owner.ts';
import type { LaunchRequest, Owner } from '../provider.ts';
import type { AwsClients } from './clients.ts';
import { readPages } from './pages.ts';
import { codeOf } from './sdk-errors.ts';
import type { AwsSettings } from './settings.ts';
import { tagFilters, tagsOf } from './tags.ts';

/** A new group is not visible everywhere at once, and the interfaces of terminated instances keep theirs for a while. */
const maxAttempts = 60;
const pauseMs = 1_000;

/** The settings for launching this role: a head instance with ingress rules also gets the cluster's group. */
export async function withIngressRules(
  clients: AwsClients,
  settings: AwsSettings,
  { owner, placement }: LaunchRequest,
  role: InstanceRole,
): Promise<AwsSettings> {
  const rules = placement?.ingress;
  if (rules === undefined || role !== 'head') return settings;
  const group = await ensureGroup(clients, settings, owner, rules);
  const { cluster, scheduler } = settings.securityGroups;
  // The account's scheduler groups may allow more than the request, so a request with scheduler rules replaces them.
  const others = rules.scheduler === null ? scheduler : [];
  return { ...settings, securityGroups: { cluster, scheduler: [...others, group] } };
}

async function ensureGroup(
  clients: AwsClients,
  settings: AwsSettings,
  owner: Owner,
  ingress: IngressRules,
): Promise<string> {
  const VpcId = await networkOf(clients, settings.securityGroups.cluster);
  const GroupName = `ropewalk-${createHash('sha256').update(ownerKey(owner)).digest('hex').slice(0, 32)}`;
  const create = new CreateSecurityGroupCommand({
    GroupName,
    Description: `Who may reach the head instance of Ropewalk cluster ${owner.cluster}`,
    VpcId,
    TagSpecifications: [{ ResourceType: 'security-group', Tags: tagsOf(owner) }],
  });
  try {
    await clients.limiter.run('change', () => clients.ec2.send(create));
  } catch (error) {
    if (codeOf(error) !== 'InvalidGroup.Duplicate') throw error;
  }
  const filters = [
    { Name: 'group-name', Values: [GroupName] },
    { Name: 'vpc-id', Values: [VpcId] },
  ];
  const GroupId = await withRetry(
    ['InvalidGroup.NotFound'],
    async () => (await describe(clients, filters))[0]?.GroupId,
  );
  // One call per rule: a call with several rules fails as a whole when one of them exists.
  for (const { port, source } of portsOf(ingress)) {
    const ranges = source.includes(':') ? { Ipv6Ranges: [{ CidrIpv6: source }] } : { IpRanges: [{ CidrIp: source }] };
    const IpPermissions = [{ IpProtocol: 'tcp', FromPort: port, ToPort: port, ...ranges }];
    const allow = new AuthorizeSecurityGroupIngressCommand({ GroupId, IpPermissions });
    await withRetry(['InvalidGroup.NotFound'], async () => {
      try {
        await clients.limiter.run('change', () => clients.ec2.send(allow));
      } catch (error) {
        if (codeOf(error) !== 'InvalidPermission.Duplicate') throw error;
      }
      return true;
    });
  }
  return GroupId;
}

/** Deletes the groups of an owner without other resources. The sweep deletes those that are still in use. */
export async function deleteGroups(clients: AwsClients, owner: Owner, signal: AbortSignal): Promise<void> {
  for (const { GroupId } of await groupsOf(clients, tagFilters(tagsOf(owner)))) {
    if (GroupId === undefined) continue;
    await withRetry(['DependencyViolation'], () => deleteGroup(clients, GroupId), signal).catch((error: unknown) => {
      if (codeOf(error) !== 'DependencyViolation') throw error;
    });
  }
}

export async function deleteGroup(clients: AwsClients, GroupId: string): Promise<true> {
  try {
    await clients.limiter.run('change', () => clients.ec2.send(new DeleteSecurityGroupCommand({ GroupId })));
  } catch (error) {
    if (codeOf(error) !== 'InvalidGroup.NotFound') throw error;
  }
  return true;
}

/** Empty where the role may not list groups: then it cannot have created any. */
export async function groupsOf(clients: AwsClients, filters: Filter[]): Promise<SecurityGroup[]> {
  try {
    return await describe(clients, filters);
  } catch (error) {
    if (codeOf(error) === 'UnauthorizedOperation') return [];
    throw error;
  }
}

async function describe(clients: AwsClients, Filters: Filter[]): Promise<SecurityGroup[]> {
  const found: SecurityGroup[] = [];
  const pages = paginateDescribeSecurityGroups({ client: clients.ec2, pageSize: 500 }, { Filters });
  for await (const { SecurityGroups = [] } of readPages(clients, pages)) found.push(...SecurityGroups);
  return found;
}

/** The VPC of the account's group. */
async function networkOf(clients: AwsClients, group: string): Promise<string> {
  const ask = new DescribeSecurityGroupsCommand({ GroupIds: [group] });
  const { SecurityGroups = [] } = await clients.limiter.run('read', () => clients.ec2.send(ask));
  return SecurityGroups[0]?.VpcId ?? '';
}

/** Repeats an attempt until it returns a value; errors with these codes are retried too. */
async function withRetry<T>(
  codes: readonly string[],
  attempt: () => Promise<T | undefined>,
  signal?: AbortSignal,
): Promise<T> {
  for (let left = maxAttempts; ; left -= 1) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
      if (left === 0) throw new Error('EC2 does not show a security group that it has created; the launch is retried.');
    } catch (error) {
      if (!codes.includes(codeOf(error)) || left === 0) throw error;
    }
    await sleep(pauseMs, undefined, signal === undefined ? {} : { signal });
  }
}
