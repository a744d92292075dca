// Cloud resources of a cluster besides its instances: launch templates, security groups, and detached volumes. They are found
// by their tags; an attached volume belongs to its instance and is not listed.
import {
  DeleteVolumeCommand,
  type Filter,
  paginateDescribeLaunchTemplates,
  paginateDescribeVolumes,
  type Tag,
} from '@aws-sdk/client-ec2';
import { setTimeout as sleep } from 'node:timers/promises';

import type { CloudResource, Owner } from '../provider.ts';
import type { AwsClients } from './clients.ts';
import { deleteGroup, groupsOf } from './ingress.ts';
import { readPages } from './pages.ts';
import { codeOf } from './sdk-errors.ts';
import { tagKeys } from './settings.ts';
import { ownerIn, tagFilters, tagsOf } from './tags.ts';
import { deleteTemplate } from './templates.ts';

const pollMs = 500;

export async function listResources(clients: AwsClients, deploymentId: string): Promise<CloudResource[]> {
  return withTags(clients, [{ Key: tagKeys.deployment, Value: deploymentId }]);
}

/** Deletes only resources with this owner's tags. Repeats until EC2 shows none of them. */
export async function deleteResources(
  clients: AwsClients,
  owner: Owner,
  ids: string[],
  signal: AbortSignal,
): Promise<void> {
  const wanted = new Set(ids);
  for (;;) {
    signal.throwIfAborted();
    const found = (await withTags(clients, tagsOf(owner))).filter(({ id }) => wanted.has(id));
    if (found.length === 0) return;
    for (const { id, kind } of found) await deleters[kind]?.(clients, id);
    await sleep(pollMs, undefined, { signal });
  }
}

const deleters: Partial<Record<CloudResource['kind'], (clients: AwsClients, id: string) => Promise<unknown>>> = {
  volume: deleteVolume,
  'launch template': deleteTemplate,
  // A terminating instance may still use the group.
  'security group': (clients, id) =>
    deleteGroup(clients, id).catch((error: unknown) => {
      if (codeOf(error) !== 'DependencyViolation') throw error;
    }),
};

async function withTags(clients: AwsClients, tags: Tag[]): Promise<CloudResource[]> {
  const filters = tagFilters(tags);
  return [
    ...(await templates(clients, filters)),
    ...(await unattachedVolumes(clients, filters)),
    ...(await securityGroups(clients, filters)),
  ];
}

async function templates(clients: AwsClients, Filters: Filter[]): Promise<CloudResource[]> {
  const pages = paginateDescribeLaunchTemplates({ client: clients.ec2, pageSize: 200 }, { Filters });
  return collect(clients, pages, ({ LaunchTemplates = [] }) =>
    LaunchTemplates.map(({ LaunchTemplateId, CreateTime, Tags }) =>
      resourceOf('launch template', LaunchTemplateId, CreateTime, Tags),
    ),
  );
}

async function unattachedVolumes(clients: AwsClients, filters: Filter[]): Promise<CloudResource[]> {
  const Filters = [...filters, { Name: 'status', Values: ['available'] }];
  const pages = paginateDescribeVolumes({ client: clients.ec2, pageSize: 500 }, { Filters });
  return collect(clients, pages, ({ Volumes = [] }) =>
    Volumes.map(({ VolumeId, CreateTime, Tags }) => resourceOf('volume', VolumeId, CreateTime, Tags)),
  );
}

async function securityGroups(clients: AwsClients, filters: Filter[]): Promise<CloudResource[]> {
  const groups = await groupsOf(clients, filters);
  return groups.map(({ GroupId, Tags }) => resourceOf('security group', GroupId, undefined, Tags)).filter(isKnown);
}

async function collect<Page>(
  clients: AwsClients,
  pages: AsyncGenerator<Page, unknown>,
  read: (page: Page) => (CloudResource | null)[],
): Promise<CloudResource[]> {
  const found: CloudResource[] = [];
  for await (const page of readPages(clients, pages)) found.push(...read(page).filter(isKnown));
  return found;
}

const isKnown = (each: CloudResource | null): each is CloudResource => each !== null;

function resourceOf(
  kind: CloudResource['kind'],
  id: string | undefined,
  created: Date | undefined,
  tags: Tag[] | undefined,
): CloudResource | null {
  const owner = ownerIn(tags);
  if (id === undefined || owner === null) return null;
  return { id, kind, owner, createdAtMs: created?.getTime() ?? null };
}

async function deleteVolume(clients: AwsClients, VolumeId: string): Promise<void> {
  try {
    await clients.limiter.run('change', () => clients.ec2.send(new DeleteVolumeCommand({ VolumeId })));
  } catch (error) {
    if (codeOf(error) !== 'InvalidVolume.NotFound') throw error;
  }
}
