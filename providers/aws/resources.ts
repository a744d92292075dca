// What EC2 keeps for a cluster besides its instances: launch templates, and volumes that stayed behind. Found by their tags,
// like everything; what is attached to an instance is that instance's and not listed.
import {
  DeleteVolumeCommand,
  type Filter,
  paginateDescribeLaunchTemplates,
  paginateDescribeVolumes,
  type Tag,
} from '@aws-sdk/client-ec2';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Belonging, Owner } from '../provider.ts';
import type { AwsClients } from './clients.ts';
import { deleteGroup, groupsOf } from './ingress.ts';
import { readPages } from './pages.ts';
import { codeOf } from './sdk-errors.ts';
import { tagKeys } from './settings.ts';
import { ownerIn, tagFilters } from './tags.ts';
import { deleteTemplate, tagsOf } from './templates.ts';

const pollMs = 500;

export async function listBelongings(clients: AwsClients, deploymentId: string): Promise<Belonging[]> {
  return withTags(clients, [{ Key: tagKeys.deployment, Value: deploymentId }]);
}

/** Only what carries this owner's tags. Deleting is asked for again until nothing is shown any more. */
export async function removeBelongings(
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
    for (const { id, kind } of found) await removers[kind](clients, id);
    await sleep(pollMs, undefined, { signal });
  }
}

const removers: Record<Belonging['kind'], (clients: AwsClients, id: string) => Promise<unknown>> = {
  volume: deleteVolume,
  'launch template': deleteTemplate,
  // An instance that is on its way out may hold it for a while.
  'security group': (clients, id) =>
    deleteGroup(clients, id).catch((error: unknown) => {
      if (codeOf(error) !== 'DependencyViolation') throw error;
    }),
};

async function withTags(clients: AwsClients, tags: Tag[]): Promise<Belonging[]> {
  const filters = tagFilters(tags);
  return [
    ...(await templates(clients, filters)),
    ...(await looseVolumes(clients, filters)),
    ...(await securityGroups(clients, filters)),
  ];
}

async function templates(clients: AwsClients, Filters: Filter[]): Promise<Belonging[]> {
  const pages = paginateDescribeLaunchTemplates({ client: clients.ec2, pageSize: 200 }, { Filters });
  return collect(clients, pages, ({ LaunchTemplates = [] }) =>
    LaunchTemplates.map(({ LaunchTemplateId, CreateTime, Tags }) =>
      belonging('launch template', LaunchTemplateId, CreateTime, Tags),
    ),
  );
}

async function looseVolumes(clients: AwsClients, filters: Filter[]): Promise<Belonging[]> {
  const Filters = [...filters, { Name: 'status', Values: ['available'] }];
  const pages = paginateDescribeVolumes({ client: clients.ec2, pageSize: 500 }, { Filters });
  return collect(clients, pages, ({ Volumes = [] }) =>
    Volumes.map(({ VolumeId, CreateTime, Tags }) => belonging('volume', VolumeId, CreateTime, Tags)),
  );
}

async function securityGroups(clients: AwsClients, filters: Filter[]): Promise<Belonging[]> {
  const groups = await groupsOf(clients, filters);
  return groups.map(({ GroupId, Tags }) => belonging('security group', GroupId, undefined, Tags)).filter(isKnown);
}

async function collect<Page>(
  clients: AwsClients,
  pages: AsyncGenerator<Page, unknown>,
  read: (page: Page) => (Belonging | null)[],
): Promise<Belonging[]> {
  const found: Belonging[] = [];
  for await (const page of readPages(clients, pages)) found.push(...read(page).filter(isKnown));
  return found;
}

const isKnown = (each: Belonging | null): each is Belonging => each !== null;

function belonging(
  kind: Belonging['kind'],
  id: string | undefined,
  created: Date | undefined,
  tags: Tag[] | undefined,
): Belonging | null {
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
