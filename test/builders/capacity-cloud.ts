// The cloud of the simulations in capacity-simulation.ts: pools with limited capacity, and the outcome of a launch.
import type { LaunchOutcome } from '../../domain/cluster/apply.ts';
import type { Decision } from '../../domain/cluster/plan.ts';
import type { LaunchFailure } from '../../domain/cluster/state.ts';

export const types = ['big', 'small'];
export const zones = ['x', 'y'];
export const pools = types.flatMap((type) =>
  zones.flatMap((zone) => [`${type}/${zone}/spot`, `${type}/${zone}/on-demand`]),
);

export type Launch = Extract<Decision, { kind: 'launch' }>;

export interface Cloud {
  room: Map<string, number>;
  /** When each pool last failed. */
  failedMs: Map<string, number>;
  /** Failures name a quota instead of pools. */
  quota: boolean;
  born: number;
}

/** The pools that a launch requests. */
export function poolsOf({ placement, slots }: Launch): string[] {
  const roles = [...new Set(slots.map(({ role }) => role))];
  return roles.flatMap((role) => {
    const { types: wanted = [], zones: where = [], market = 'on-demand' } = placement?.[role] ?? {};
    return wanted.flatMap((type) => where.map((zone) => `${type}/${zone}/${market}`));
  });
}

/** Takes each slot from the first pool with room; with `oneZone`, from the zone of the first instance. */
export function outcomeOf(cloud: Cloud, launch: Launch, nowMs: number): LaunchOutcome {
  const launched: LaunchOutcome['launched'] = [];
  const failures: LaunchFailure[] = [];
  let zone: string | null = null;
  for (const role of ['worker', 'head'] as const) {
    const slots = launch.slots.filter((slot) => slot.role === role);
    if (slots.length === 0) continue;
    const all = poolsOf({ ...launch, slots });
    let missing = 0;
    for (const { slot } of slots) {
      const fixed: string | null = zone;
      const pool: string | undefined = all.find((each) => hasRoom(cloud, each, fixed));
      const [offer = '', where = '']: string[] = pool?.split('/') ?? [];
      if (pool === undefined) missing += 1;
      else {
        cloud.room.set(pool, (cloud.room.get(pool) ?? 0) - 1);
        launched.push({ id: `i-${(cloud.born += 1)}`, slot, offer, zone: where });
        if (launch.placement?.oneZone === true) zone = where;
      }
    }
    if (missing > 0) failures.push(...failuresOf(cloud, all, missing, nowMs));
  }
  return { launched, failures };
}

const hasRoom = ({ room }: Cloud, pool: string, zone: string | null): boolean =>
  (room.get(pool) ?? 0) > 0 && (zone === null || pool.includes(`/${zone}/`));

/** One failure for each pool of the request, as a fleet reports it, or one quota failure for the market. */
function failuresOf(cloud: Cloud, all: string[], missing: number, nowMs: number): LaunchFailure[] {
  for (const pool of all) cloud.failedMs.set(pool, nowMs);
  const code = cloud.quota ? 'VcpuLimitExceeded' : 'InsufficientInstanceCapacity';
  const scope = cloud.quota ? ('quota' as const) : ('offer' as const);
  return all.map((pool, at) => {
    const [offer = '', zone = '', market] = pool.split('/');
    const sold = market === 'spot' ? ('spot' as const) : ('on-demand' as const);
    return { offer, zone, market: sold, code, scope, text: 'short of it', count: at === 0 ? missing : 0 };
  });
}
