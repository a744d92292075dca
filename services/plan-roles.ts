// Plans the machines and price of each role from resolved machines.
import { marketsOf } from '../domain/cluster/capacity/machines.ts';
import { planRole, totalPrice, type PlannedRole, type PlanPrice } from '../domain/offers/plan.ts';
import type { ResolvedMachines } from './machines.ts';

/** The hourly price of a new cluster's or job's instances; empty on a host. */
export function pricePerHour(machines: ResolvedMachines, instances: number): { pricePerHour?: PlanPrice } {
  if (machines.machines === undefined) return {};
  const { head, workers } = rolesOf(machines, instances);
  return { pricePerHour: totalPrice([head.pricePerHour, workers.pricePerHour]) };
}

/** The head instance is always on-demand, because everything ends with it. */
export function rolesOf(
  { machines, offers, addressPrices }: Pick<ResolvedMachines, 'machines' | 'offers' | 'addressPrices'>,
  instances: number,
): { zones: string[]; head: PlannedRole; workers: PlannedRole } {
  const here = [...new Set(offers.map((offer) => offer.zone))];
  const types = [...new Set(offers.map((offer) => offer.type))];
  const { zones, headTypes, workerTypes, spotPolicy } = machines ?? {
    zones: here,
    headTypes: types,
    workerTypes: types,
    spotPolicy: 'on-demand' as const,
  };
  return {
    zones,
    head: planRole(offers, {
      ...{ count: 1, types: headTypes, markets: ['on-demand'], zones },
      addressPerHour: addressPrices.head,
    }),
    workers: planRole(offers, {
      ...{ count: instances - 1, types: workerTypes, markets: marketsOf(spotPolicy), zones },
      addressPerHour: addressPrices.worker,
    }),
  };
}
