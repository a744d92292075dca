// Ropewalk's instances as EC2 describes them, read by tag and in pages, never one by one. An unknown state counts as starting.
import { paginateDescribeInstances } from '@aws-sdk/client-ec2';
import type { Filter, Instance } from '@aws-sdk/client-ec2';

import type { ObservedInstance, ObservedState, Owner } from '../provider.ts';
import type { AwsClients } from './clients.ts';
import { readPages } from './pages.ts';
import { tagKeys } from './settings.ts';
import { wasOrdered, whyEnded } from './state-reasons.ts';
import { ownerIn, tagFilters, tagsOf } from './tags.ts';

const pageSize = 1_000;
/** EC2 accepts 200 values in a filter. */
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

/** Every existing instance of this owner, and those of `ids` that EC2 still shows. */
export async function describeOwned(clients: AwsClients, owner: Owner, ids: string[]): Promise<ObservedInstance[]> {
  const asked = new Set(ids);
  const found = await byTags(clients, tagFilters(tagsOf(owner)));
  return found.filter((instance) => instance.state !== 'gone' || asked.has(instance.id));
}

/** Every existing instance of this deployment. */
export async function listDeployment(clients: AwsClients, deploymentId: string): Promise<ObservedInstance[]> {
  const filters = tagFilters([{ Key: tagKeys.deployment, Value: deploymentId }]);
  return byTags(clients, [...filters, { Name: 'instance-state-name', Values: notGone }]);
}

export interface ShownInstance extends ObservedInstance {
  /** False for a stopped instance: it does no work, but exists and costs money until it is terminated. */
  isTerminating: boolean;
}

/**
 * Those of `ids` that EC2 shows, of any owner. Uses a filter because one unknown id in the `InstanceIds` parameter would fail
 * the call.
 */
export async function describeIds(clients: AwsClients, ids: string[]): Promise<ShownInstance[]> {
  return (await describeInstancesByIds(clients, ids)).flatMap((instance) => {
    const isTerminating = ['shutting-down', 'terminated'].includes(instance.State?.Name ?? '');
    return observed(instance).map((each) => ({ ...each, isTerminating }));
  });
}

/** Omits ids that EC2 does not show. */
export async function describeInstancesByIds(clients: AwsClients, ids: string[]): Promise<Instance[]> {
  const found: Instance[] = [];
  for (let from = 0; from < ids.length; from += idsPerFilter) {
    const Values = ids.slice(from, from + idsPerFilter);
    found.push(...(await instancesBy(clients, [{ Name: 'instance-id', Values }])));
  }
  return found;
}

/** Instances launched with one of these client tokens, including terminated ones; at most 200 tokens. */
export async function describeTokens(clients: AwsClients, tokens: string[]): Promise<{ id: string; token: string }[]> {
  const found = await instancesBy(clients, [{ Name: 'client-token', Values: tokens }]);
  return found.flatMap(({ InstanceId: id, ClientToken: token }) =>
    id === undefined || token === undefined ? [] : [{ id, token }],
  );
}

/** The instances that a fleet launched, including terminated ones. EC2 sets this tag by itself. */
export async function describeFleet(clients: AwsClients, fleetId: string): Promise<FleetInstance[]> {
  const found = await instancesBy(clients, [{ Name: 'tag:aws:ec2:fleet-id', Values: [fleetId] }]);
  return found.flatMap(({ InstanceId: id, InstanceType, Placement }) =>
    id === undefined ? [] : [{ id, type: InstanceType ?? '', zone: Placement?.AvailabilityZone ?? '' }],
  );
}

export interface FleetInstance {
  id: string;
  type: string;
  zone: string;
}

async function byTags(clients: AwsClients, filters: Filter[]): Promise<ObservedInstance[]> {
  return (await instancesBy(clients, filters)).flatMap(observed);
}

async function instancesBy(clients: AwsClients, Filters: Filter[]): Promise<Instance[]> {
  const found: Instance[] = [];
  const pages = paginateDescribeInstances({ client: clients.ec2, pageSize }, { Filters });
  for await (const { Reservations = [] } of readPages(clients, pages)) {
    found.push(...Reservations.flatMap(({ Instances }) => Instances ?? []));
  }
  return found;
}

/** Empty for an instance without Ropewalk's tags. */
function observed(instance: Instance): ObservedInstance[] {
  const owner = ownerIn(instance.Tags);
  if (instance.InstanceId === undefined || owner === null) return [];
  const state = states[instance.State?.Name ?? 'pending'] ?? 'starting';
  const launchedAtMs = instance.LaunchTime?.getTime() ?? 0;
  const why = state === 'stopping' || state === 'gone' ? whyEnded(instance) : null;
  return [
    {
      ...{ id: instance.InstanceId, state, owner, launchedAtMs },
      ...(wasOrdered(instance) ? { wasOrdered: true } : {}),
      ...(why === null ? {} : { whyEnded: why }),
    },
  ];
}
