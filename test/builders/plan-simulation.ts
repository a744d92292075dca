// Any offers and any request: the oracle has a cloud that grants permitted offers in every permitted way, and checks the plan against each.
import fc from 'fast-check';

import type { Market, Offer } from '../../domain/offers/offer.ts';
import type { RoleRequest } from '../../domain/offers/plan.ts';
import type { PlanRules } from './rules.ts';
import { type CheckOptions, checkSimulations, type Met, must, same } from './simulations.ts';

const subjects = ['no capacity', 'spot first', 'on demand first', 'fall-back', 'a dearer zone', 'order'] as const;
type Subject = (typeof subjects)[number];

const names = ['m6i.large', 'm5.large', 'c6i.large'];
const places = ['a', 'b', 'c'];

export const anOffer = (type: string, zone: string, market: Market, pricePerHour: number): Offer => ({
  ...{ type, zone, market, pricePerHour, vcpus: 2, memoryBytes: 8 * 2 ** 30 },
  ...{ architecture: 'x86_64', gpus: 0, gpuName: null },
});

const anyOffers = fc.uniqueArray(
  fc
    .tuple(
      fc.constantFrom(...names),
      fc.constantFrom(...places),
      fc.constantFrom<Market>('on-demand', 'spot'),
      fc.integer({ min: 1, max: 500 }),
    )
    .map(([type, zone, market, cents]) => anOffer(type, zone, market, cents / 100)),
  { selector: ({ type, zone, market }) => `${type}/${zone}/${market}`, maxLength: 18, size: 'max' },
);
const anyRequest = fc.record({
  count: fc.constantFrom(0, 1, 10, 1_000),
  types: fc.shuffledSubarray(names, { minLength: 1 }),
  markets: fc.constantFrom<Market[]>(['on-demand'], ['spot'], ['spot', 'on-demand']),
  zones: fc.subarray(places, { minLength: 1 }),
});
type Simulation = [Offer[], RoleRequest];

export function checkPlanSimulations(rules: PlanRules, options: CheckOptions): Record<string, number> {
  const plan = fc.tuple(anyOffers, anyRequest);
  return checkSimulations(
    { plan, subjects, run: (sim: Simulation, met) => runPlanSimulation(rules, sim, met) },
    options,
  );
}

function runPlanSimulation(rules: PlanRules, [offers, request]: Simulation, met: Met<Subject>): void {
  const { types, markets, pricePerHour, count } = rules.planRole(offers, request);
  const said = (what: string) => (): string => `${what}: ${JSON.stringify(pricePerHour)}`;
  must(same([markets, count], [request.markets, request.count]), () => 'the plan is of another request');
  const sold = offers.filter(({ type, zone }) => request.types.includes(type) && request.zones.includes(zone));
  const shown = request.types.filter((name) => sold.some(({ type }) => type === name));
  must(
    same(
      shown,
      request.types.filter((name) => types.some(({ type }) => type === name)),
    ),
    () => 'types are missing',
  );
  must(
    same(
      types.map(({ type }) => type),
      shown,
    ),
    () => 'types are not in their order',
  );

  const may = sold.filter(({ market }) => request.markets.includes(market));
  if (may.length === 0) {
    met('no capacity');
    return must(same(pricePerHour, { firstChoice: 0, max: 0 }), said('nothing costs something'));
  }
  for (const { pricePerHour: each } of may) {
    must(
      known(pricePerHour.max) >= known(each) * request.count - 1e-4,
      said(`something at ${each} is offered, and costs more`),
    );
  }
  const dearest = Math.max(...may.map((each) => known(each.pricePerHour))) * request.count;
  must(Math.abs(known(pricePerHour.max) - dearest) < 1e-3, said(`nothing costs as much, ${dearest} at most`));
  const first = firstHad(request, may);
  met(first.market === 'spot' ? 'spot first' : 'on demand first');
  if (request.markets.length === 2 && may.some(({ market }) => market !== first.market)) met('fall-back');
  if (may.some((each) => each.type === first.type && known(each.pricePerHour) > known(first.pricePerHour)))
    met('a dearer zone');
  if (types.length > 1) met('order');
  const had = known(first.pricePerHour) * request.count;
  must(Math.abs(known(pricePerHour.firstChoice) - had) < 1e-3, said(`had first is ${first.type} at ${had}`));
}

/** Every offer has a price in these simulations. */
function known(price: number | null): number {
  if (price === null) throw new Error('a price is unknown');
  return price;
}

/** The grant of a cloud with unlimited capacity. */
function firstHad({ types, markets }: RoleRequest, may: readonly Offer[]): Offer {
  const market = markets.find((each) => may.some((offer) => offer.market === each));
  const there = may
    .filter((offer) => offer.market === market)
    .toSorted((a, b) => known(a.pricePerHour) - known(b.pricePerHour));
  const named = types.map((type) => there.find((offer) => offer.type === type)).find((offer) => offer !== undefined);
  const found = market === 'spot' ? there[0] : named;
  if (found === undefined) throw new Error('a request that has an offer has no first choice');
  return found;
}
