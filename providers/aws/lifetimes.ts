// Launch and end times of instances as EC2 reports and bills them: from LaunchTime to the time in StateTransitionReason.
import type { Instance } from '@aws-sdk/client-ec2';

import type { DiskSizes, Lifetime } from '../../domain/cost/interval.ts';
import type { AwsClients } from './clients.ts';
import { describeInstancesByIds } from './describe.ts';
import { pricesOf } from './prices.ts';
import { tagKeys, type AwsSettings } from './settings.ts';

/** Covers the instances that EC2 still shows, which is about an hour after their end. Its answer has no disk sizes. */
export async function readLifetimes(
  clients: AwsClients,
  settings: Pick<AwsSettings, 'region' | 'assignPublicIps' | 'workerSubnets'>,
  ids: string[],
  diskGib: DiskSizes = { head: 0, worker: 0 },
): Promise<Lifetime[]> {
  const found = (await describeInstancesByIds(clients, ids)).flatMap(lifetimeOf);
  const price = await pricesOf(
    clients,
    settings,
    found.map((one) => ({ ...one, diskGib: 0 })),
  );
  return found.map((one) => ({ ...one, price: price({ ...one, diskGib: diskGib[one.role] }) }));
}

function lifetimeOf(instance: Instance): Omit<Lifetime, 'price'>[] {
  const { InstanceId: id, LaunchTime, InstanceType: type = '', Placement, InstanceLifecycle, Tags = [] } = instance;
  if (id === undefined || LaunchTime === undefined) return [];
  const role = Tags.some(({ Key, Value }) => Key === tagKeys.role && Value === 'head') ? 'head' : 'worker';
  const market = InstanceLifecycle === 'spot' ? 'spot' : 'on-demand';
  const zone = Placement?.AvailabilityZone ?? '';
  const endedAtMs = endedAt(instance.StateTransitionReason ?? '');
  return [{ id, role, type, zone, market, launchedAtMs: LaunchTime.getTime(), endedAtMs }];
}

/** `User initiated (2026-11-22 17:40:21 GMT)`; null for a reason without a time. */
export function endedAt(reason: string): number | null {
  const [, date, time] = /\((\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (?:GMT|UTC)\)/.exec(reason) ?? [];
  const atMs = Date.parse(`${date}T${time}Z`);
  return Number.isNaN(atMs) ? null : atMs;
}
