// Start and end of instances, as EC2 reports and bills them: from LaunchTime to the time in StateTransitionReason; and the charges
// of spot instances in between.
import type { Instance } from '@aws-sdk/client-ec2';

import type { DiskSizes, Lifetime, RunningCharge } from '../../domain/cost/interval.ts';
import { chargedPrices, maxRunningChanges, type ChargedPrices } from '../../domain/cost/spot-prices.ts';
import type { AwsClients } from './clients.ts';
import { describeInstancesByIds } from './describe.ts';
import { pricesBeside, pricesOf } from './prices.ts';
import { tagKeys, type AwsSettings } from './settings.ts';
import { poolOf, readSpotPrices } from './spot-prices.ts';

type Settings = Pick<AwsSettings, 'region' | 'assignPublicIps' | 'workerSubnets'>;
type Found = Omit<Lifetime, 'price' | 'later'>;

/** Covers the instances that EC2 still shows, which is about an hour after their end. Its answer has no disk sizes. */
export async function readLifetimes(
  clients: AwsClients,
  settings: Settings,
  ids: string[],
  diskGib: DiskSizes = { head: 0, worker: 0 },
): Promise<Lifetime[]> {
  const found = (await describeInstancesByIds(clients, ids)).flatMap(lifetimeOf);
  const charged = await readCharged(clients, found).catch(() => new Map<string, ChargedPrices>());
  const others = found.filter(({ id }) => !charged.has(id)).map((one) => ({ ...one, diskGib: diskGib[one.role] }));
  const price = await pricesOf(clients, settings, others);
  return found.map((one) => {
    const { id, role, zone } = one;
    const spot = charged.get(id);
    if (spot === undefined) return { ...one, price: price({ ...one, diskGib: diskGib[role] }) };
    const { microsPerHour, later } = spot;
    const source = byTheHour(zone);
    return { ...one, later, price: { microsPerHour, ...pricesBeside(settings, role, diskGib[role]), source } };
  });
}

/** Of the spot instances of `ids`, without disks and addresses. */
export async function readCharges(clients: AwsClients, ids: string[]): Promise<RunningCharge[]> {
  const found = (await describeInstancesByIds(clients, ids)).flatMap(lifetimeOf);
  const charged = await readCharged(clients, found, maxRunningChanges);
  return found.flatMap(({ id, zone }) => {
    const charge = charged.get(id);
    return charge === undefined ? [] : [{ id, ...charge, source: byTheHour(zone) }];
  });
}

const byTheHour = (zone: string): string => `spot prices of ${zone} by the hour`;

/** Of spot instances; none where the history does not reach back to the launch: then the price at the launch counts. */
async function readCharged(
  clients: AwsClients,
  found: readonly Found[],
  max?: number,
): Promise<Map<string, ChargedPrices>> {
  const spot = found.filter(({ market }) => market === 'spot');
  if (spot.length === 0) return new Map();
  const period = {
    types: [...new Set(spot.map(({ type }) => type))],
    zones: [...new Set(spot.map(({ zone }) => zone))],
    fromMs: Math.min(...spot.map(({ launchedAtMs }) => launchedAtMs)),
  };
  const prices = await readSpotPrices(clients, period);
  return new Map(
    spot.flatMap((one) => {
      const charged = chargedPrices(prices.get(poolOf(one.type, one.zone)) ?? [], one, max);
      return charged === null ? [] : [[one.id, charged] as const];
    }),
  );
}

function lifetimeOf(instance: Instance): Found[] {
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
