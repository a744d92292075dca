// The pools that a launch draws from: capacity, quotas, addresses and outages, as a fleet of type `instant` meets them.
import { instanceTypes, priceOf } from './types.ts';
import { isLive } from './state.ts';
import type { Market, Region, Subnet } from './state.ts';

export interface Pool {
  type: string;
  subnet: Subnet;
  market: Market;
  priority: number;
}

export interface PoolError {
  pool: Pool;
  code: string;
  message: string;
}

/** Takes as many as fit from the pools in order; returns an error for each pool that fell short. */
export function allocate(
  region: Region,
  pools: readonly Pool[],
  wanted: number,
  nowMs: number,
): { taken: { pool: Pool; count: number }[]; errors: PoolError[] } {
  const taken: { pool: Pool; count: number }[] = [];
  const errors: PoolError[] = [];
  let left = wanted;
  for (const pool of pools) {
    if (left === 0) break;
    const { fits, problem } = room(region, pool, left, taken, nowMs);
    if (fits > 0) taken.push({ pool, count: fits });
    left -= fits;
    if (problem !== null) errors.push({ pool, ...problem });
  }
  return { taken, errors };
}

export function byPrice(a: Pool, b: Pool): number {
  const price = ({ type, market }: Pool): number => {
    const known = instanceTypes.get(type);
    return known === undefined ? Number.POSITIVE_INFINITY : priceOf(known, market);
  };
  return price(a) - price(b) || a.priority - b.priority;
}

function room(
  region: Region,
  pool: Pool,
  wanted: number,
  taken: readonly { pool: Pool; count: number }[],
  nowMs: number,
): { fits: number; problem: { code: string; message: string } | null } {
  const type = instanceTypes.get(pool.type);
  const { zone } = pool.subnet;
  const none = (code: string, message: string) => ({ fits: 0, problem: { code, message } });
  if (type === undefined) {
    return none('InvalidParameterValue', `Invalid value '${pool.type}' for instanceType.`);
  }
  const planned = region.poolErrors.get(`${pool.type}/${zone}/${pool.market}`);
  if (planned !== undefined) return none(planned.code, planned.message);
  if (region.zonesDown.has(zone)) return none('InsufficientInstanceCapacity', noCapacity(pool));
  const live = [...region.instances.values()].filter((instance) => isLive(instance, nowMs));
  const takenOf = (belongs: (other: Pool) => boolean): number =>
    taken.reduce((sum, each) => sum + (belongs(each.pool) ? each.count : 0), 0);

  const inPool = live.filter((each) => each.type === pool.type && each.zone === zone && each.market === pool.market);
  const capacity = region.capacity.get(`${pool.type}/${zone}/${pool.market}`) ?? Number.POSITIVE_INFINITY;
  const free = capacity - inPool.length;

  const quotaKey = `${type.quotaClass}/${pool.market}`;
  const inQuota = (name: string, market: Market): number => {
    const other = instanceTypes.get(name);
    return other !== undefined && `${other.quotaClass}/${market}` === quotaKey ? other.vcpus : 0;
  };
  const used =
    live.reduce((sum, each) => sum + inQuota(each.type, each.market), 0) +
    taken.reduce((sum, each) => sum + each.count * inQuota(each.pool.type, each.pool.market), 0);
  const quota = region.quotas.get(quotaKey) ?? Number.POSITIVE_INFINITY;
  const byQuota = Math.floor((quota - used) / type.vcpus);

  const inSubnet = live.filter((each) => each.subnet === pool.subnet.id).length;
  const addresses = pool.subnet.free - inSubnet - takenOf((other) => other.subnet.id === pool.subnet.id);

  const fits = Math.max(0, Math.min(wanted, free, byQuota, addresses));
  if (fits === wanted) return { fits, problem: null };
  if (fits >= byQuota) return { fits, problem: overQuota(pool.market) };
  if (fits >= addresses) {
    const message = `There are not enough free addresses in subnet '${pool.subnet.id}' to satisfy the requested number of instances.`;
    return { fits, problem: { code: 'InsufficientFreeAddressesInSubnet', message } };
  }
  return { fits, problem: { code: 'InsufficientInstanceCapacity', message: noCapacity(pool) } };
}

const noCapacity = ({ type, subnet }: Pool): string =>
  `We currently do not have sufficient ${type} capacity in the Availability Zone you requested (${subnet.zone}). Our system will be working on provisioning additional capacity.`;

function overQuota(market: Market): { code: string; message: string } {
  return market === 'spot'
    ? { code: 'MaxSpotInstanceCountExceeded', message: 'Max spot instance count exceeded' }
    : {
        code: 'VcpuLimitExceeded',
        message:
          'You have requested more vCPU capacity than your current vCPU limit allows for the instance bucket that the specified instance type belongs to.',
      };
}
