// What EC2 says of our instances: by tag, in pages, never one by one. A state that is not known yet counts as starting.
import { paginateDescribeInstances } from '@aws-sdk/client-ec2';
import type { Filter, Instance } from '@aws-sdk/client-ec2';

import type { ObservedInstance, ObservedState, Owner } from '../provider.ts';
import type { AwsClients } from './clients.ts';
import { readPages } from './pages.ts';
import { tagKeys } from './settings.ts';
import { ownerIn, tagFilters } from './tags.ts';
import { tagsOf } from './templates.ts';

const pageSize = 1_000;
/** EC2 takes 200 values in a filter. */
const idsPerFilter = 200;
const notGone = ['pending', 'running', 'shutting-down', 'stopping', 'stopped'];

const states: Record<string, ObservedState> = {
  pending: 'starting',
  running: 'running',
  'shutting-down': 'stopping',
  stopping: 'stopping',
  stopped: 'stopping',
  terminated: 'gone',
};

/** Every instance of this owner that is not gone, and those of `ids` that EC2 still shows. */
export async function describeOwned(clients: AwsClients, owner: Owner, ids: string[]): Promise<ObservedInstance[]> {
  const asked = new Set(ids);
  const found = await byTags(clients, tagFilters(tagsOf(owner)));
  return found.filter((instance) => instance.state !== 'gone' || asked.has(instance.id));
}

/** Every instance of this deployment that is not gone. */
export async function listDeployment(clients: AwsClients, deploymentId: string): Promise<ObservedInstance[]> {
  const filters = tagFilters([{ Key: tagKeys.deployment, Value: deploymentId }]);
  return byTags(clients, [...filters, { Name: 'instance-state-name', Values: notGone }]);
}

/** Those of `ids` that EC2 shows, whoever owns them. By filter: asked for by name, one unknown id would fail the call. */
export async function describeIds(clients: AwsClients, ids: string[]): Promise<ObservedInstance[]> {
  const found: ObservedInstance[] = [];
  for (let from = 0; from < ids.length; from += idsPerFilter) {
    found.push(...(await byTags(clients, [{ Name: 'instance-id', Values: ids.slice(from, from + idsPerFilter) }])));
  }
  return found;
}

async function byTags(clients: AwsClients, Filters: Filter[]): Promise<ObservedInstance[]> {
  const found: ObservedInstance[] = [];
  const pages = paginateDescribeInstances({ client: clients.ec2, pageSize }, { Filters });
  for await (const { Reservations = [] } of readPages(clients, pages)) {
    const instances = Reservations.flatMap(({ Instances }) => Instances ?? []);
    found.push(...instances.flatMap((instance) => observed(instance) ?? []));
  }
  return found;
}

function observed(instance: Instance): ObservedInstance | null {
  const owner = ownerIn(instance.Tags);
  if (instance.InstanceId === undefined || owner === null) return null;
  return {
    id: instance.InstanceId,
    state: states[instance.State?.Name ?? 'pending'] ?? 'starting',
    owner,
    launchedAtMs: instance.LaunchTime?.getTime() ?? 0,
  };
}
