// What EC2 says of our instances: by tag, in pages, never one by one. A state that is not known yet counts as starting.
import { paginateDescribeInstances } from '@aws-sdk/client-ec2';
import type { Filter, Instance } from '@aws-sdk/client-ec2';

import type { ObservedInstance, ObservedState, Owner } from '../provider.ts';
import type { AwsClients } from './clients.ts';
import { tagKeys } from './settings.ts';

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
  const found = await byTags(clients, [
    filter(tagKeys.deployment, owner.deploymentId),
    filter(tagKeys.workspace, owner.workspace),
    filter(tagKeys.cluster, String(owner.cluster)),
  ]);
  return found.filter((instance) => instance.state !== 'gone' || asked.has(instance.id));
}

/** Every instance of this deployment that is not gone. */
export async function listDeployment(clients: AwsClients, deploymentId: string): Promise<ObservedInstance[]> {
  return byTags(clients, [filter(tagKeys.deployment, deploymentId), { Name: 'instance-state-name', Values: notGone }]);
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
  for (;;) {
    const { value: page, done } = await clients.limiter.run('read', () => pages.next());
    if (done === true) return found;
    const instances = (page.Reservations ?? []).flatMap(({ Instances }) => Instances ?? []);
    found.push(...instances.flatMap((instance) => observed(instance) ?? []));
  }
}

/** null for what is not ours to understand: without our tags it is somebody else's. */
function observed(instance: Instance): ObservedInstance | null {
  const tags = new Map((instance.Tags ?? []).map(({ Key, Value }) => [Key, Value]));
  const deploymentId = tags.get(tagKeys.deployment);
  const workspace = tags.get(tagKeys.workspace);
  const cluster = Number(tags.get(tagKeys.cluster) ?? Number.NaN);
  if (instance.InstanceId === undefined || deploymentId === undefined || workspace === undefined) return null;
  if (!Number.isInteger(cluster)) return null;
  return {
    id: instance.InstanceId,
    state: states[instance.State?.Name ?? 'pending'] ?? 'starting',
    owner: { deploymentId, workspace, cluster },
    launchedAtMs: instance.LaunchTime?.getTime() ?? 0,
  };
}

const filter = (key: string, value: string): Filter => ({
  Name: `tag:${key}`,
  Values: [value.replaceAll(/[*?\\]/g, '\\$&')],
});
