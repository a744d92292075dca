// A security group of a cluster's own, for whom it lets in beside what the account's groups say: made before its head instance
// is launched, named and tagged by its cluster, deleted when all of the cluster is over. One name in one network is one
// group, so whoever comes second, after a crash or beside the first, finds it.
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

import type { Doors } from '../../domain/cluster/doors.ts';
import type { InstanceRole } from '../../domain/cluster/state.ts';
import { ownerKey } from '../../domain/owner.ts';
import type { LaunchRequest, Owner } from '../provider.ts';
import type { AwsClients } from './clients.ts';
import { readPages } from './pages.ts';
import { codeOf } from './sdk-errors.ts';
import type { AwsSettings } from './settings.ts';
import { tagFilters } from './tags.ts';
import { tagsOf } from './templates.ts';

const schedulerPort = 8786;
const sshPort = 22;
/** A new group is not known everywhere at once, and one whose instances have just gone is still held by their interfaces. */
const tries = 60;
const pauseMs = 1_000;

/** The settings as this role is launched with them: a head instance with doors has the cluster's own group too. */
export async function withDoors(
  clients: AwsClients,
  settings: AwsSettings,
  { owner, placement }: LaunchRequest,
  role: InstanceRole,
): Promise<AwsSettings> {
  const doors = placement?.doors;
  if (doors === undefined || role !== 'head') return settings;
  const group = await ensureGroup(clients, settings, owner, doors);
  const { cluster, scheduler } = settings.securityGroups;
  // The account's groups may let in more than was asked for, so where the scheduler's door is asked for they stay away.
  const others = doors.scheduler === null ? scheduler : [];
  return { ...settings, securityGroups: { cluster, scheduler: [...others, group] } };
}

async function ensureGroup(clients: AwsClients, settings: AwsSettings, owner: Owner, doors: Doors): Promise<string> {
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
  const GroupId = await patiently(
    ['InvalidGroup.NotFound'],
    async () => (await describe(clients, filters))[0]?.GroupId,
  );
  const rules = [
    { port: schedulerPort, from: doors.scheduler },
    { port: sshPort, from: doors.ssh },
  ];
  for (const { port, from } of rules) {
    if (from === null) continue;
    const IpPermissions = [{ IpProtocol: 'tcp', FromPort: port, ToPort: port, IpRanges: [{ CidrIp: from }] }];
    const allow = new AuthorizeSecurityGroupIngressCommand({ GroupId, IpPermissions });
    await patiently(['InvalidGroup.NotFound'], async () => {
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

/** Those of this owner, when nothing else of it is left. What cannot be deleted yet is left to the sweep. */
export async function deleteGroups(clients: AwsClients, owner: Owner, signal: AbortSignal): Promise<void> {
  for (const { GroupId } of await groupsOf(clients, tagFilters(tagsOf(owner)))) {
    if (GroupId === undefined) continue;
    await patiently(['DependencyViolation'], () => deleteGroup(clients, GroupId), signal).catch((error: unknown) => {
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

/** Who may not look at groups cannot have made any. */
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

/** The network of the account's own group. */
async function networkOf(clients: AwsClients, group: string): Promise<string> {
  const ask = new DescribeSecurityGroupsCommand({ GroupIds: [group] });
  const { SecurityGroups = [] } = await clients.limiter.run('read', () => clients.ec2.send(ask));
  return SecurityGroups[0]?.VpcId ?? '';
}

/** Until it gives something; an error of these codes is tried again, as long as that may take. */
async function patiently<T>(
  codes: readonly string[],
  attempt: () => Promise<T | undefined>,
  signal?: AbortSignal,
): Promise<T> {
  for (let left = tries; ; left -= 1) {
    try {
      const got = await attempt();
      if (got !== undefined) return got;
      if (left === 0) throw new Error('EC2 does not show a security group that it has made; it is asked again.');
    } catch (error) {
      if (!codes.includes(codeOf(error)) || left === 0) throw error;
    }
    await sleep(pauseMs, undefined, signal === undefined ? {} : { signal });
  }
}
