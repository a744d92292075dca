// What a launch may come to: an oracle that looks at every offer that may be had, for any offers and any wish.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Market, Offer } from '../../../domain/offers/offer.ts';
import { planRole, totalPrice, type RoleWish } from '../../../domain/offers/plan.ts';

const names = ['m6i.large', 'm5.large', 'c6i.large'];
const places = ['a', 'b', 'c'];
const offer = (type: string, zone: string, market: Market, pricePerHour: number): Offer => ({
  ...{ type, zone, market, pricePerHour, vcpus: 2, memoryBytes: 8 * 2 ** 30 },
  ...{ architecture: 'x86_64', gpus: 0, gpuName: null },
});
const offers: Offer[] = [
  offer('m6i.large', 'a', 'on-demand', 0.2),
  offer('m6i.large', 'b', 'on-demand', 0.2),
  offer('m6i.large', 'a', 'spot', 0.09),
  offer('m6i.large', 'b', 'spot', 0.05),
  offer('m5.large', 'a', 'on-demand', 0.1),
  offer('m5.large', 'c', 'on-demand', 9),
];
const wish: RoleWish = { count: 10, types: ['m6i.large', 'm5.large'], markets: ['on-demand'], zones: ['a', 'b'] };

describe('a role', () => {
  it('costs what its first type costs on demand, and at most what the dearest does where it may run', () => {
    const planned = planRole(offers, wish);
    expect(planned.pricePerHour).toEqual({ firstChoice: 2, max: 2 });
    expect(planned.types).toMatchObject([
      { type: 'm6i.large', zones: ['a', 'b'], pricePerHour: 0.2, spotPricePerHour: 0.05 },
      { type: 'm5.large', zones: ['a'], pricePerHour: 0.1, spotPricePerHour: null },
    ]);
    const named = planRole(offers, { ...wish, types: ['m5.large', 'm6i.large'] });
    expect(named.pricePerHour).toEqual({ firstChoice: 1, max: 2 });
  });

  it('on the spot market begins with the cheapest, and with a fall-back may cost what it costs on demand', () => {
    expect(planRole(offers, { ...wish, markets: ['spot'] }).pricePerHour).toEqual({ firstChoice: 0.5, max: 0.9 });
    const both = planRole(offers, { ...wish, markets: ['spot', 'on-demand'] });
    expect(both.pricePerHour).toEqual({ firstChoice: 0.5, max: 2 });
  });

  it('of nobody costs nothing, and what nobody sells is not in it', () => {
    expect(planRole(offers, { ...wish, count: 0 }).pricePerHour).toEqual({ firstChoice: 0, max: 0 });
    expect(planRole(offers, { ...wish, types: ['c6i.large'] })).toMatchObject({ types: [] });
  });
});

const anyOffers = fc.uniqueArray(
  fc.record({
    type: fc.constantFrom(...names),
    zone: fc.constantFrom(...places),
    market: fc.constantFrom<Market>('on-demand', 'spot'),
    cents: fc.integer({ min: 1, max: 500 }),
  }),
  { selector: ({ type, zone, market }) => `${type}/${zone}/${market}` },
);
const anyWish = fc.record({
  count: fc.integer({ min: 0, max: 1_000 }),
  types: fc.shuffledSubarray(names, { minLength: 1 }),
  markets: fc.constantFrom<Market[]>(['on-demand'], ['spot'], ['spot', 'on-demand']),
  zones: fc.subarray(places, { minLength: 1 }),
});

it('whatever is had costs no more than the plan says, and what is had first what it says', () => {
  fc.assert(
    fc.property(anyOffers, anyWish, (cents, asked) => {
      const sold = cents.map((each) => offer(each.type, each.zone, each.market, each.cents / 100));
      const { types, pricePerHour } = planRole(sold, asked);
      const may = sold.filter(
        (each) =>
          asked.types.includes(each.type) && asked.zones.includes(each.zone) && asked.markets.includes(each.market),
      );
      const per = may.map((each) => each.pricePerHour * asked.count);
      expect(pricePerHour.max).toBeCloseTo(Math.max(0, ...per), 3);
      if (per.length > 0) expect(per.some((price) => Math.abs(price - pricePerHour.firstChoice) < 1e-3)).toBe(true);
      // A type that is sold nowhere here is not promised, and the order is the wish's.
      const order = types.map(({ type }) => asked.types.indexOf(type));
      expect(order).toEqual(order.toSorted((a, b) => a - b));
      for (const { type } of may) expect(types.map((each) => each.type)).toContain(type);
      const first = asked.markets.find((market) => may.some((each) => each.market === market));
      const ofFirst = may.filter(({ market }) => market === first).map((each) => each.pricePerHour * asked.count);
      if (first === 'spot') expect(pricePerHour.firstChoice).toBeCloseTo(Math.min(...ofFirst), 3);
    }),
    { numRuns: 500 },
  );
});

it('everything together is the sum, to a ten-thousandth of a dollar', () => {
  const prices = Array.from({ length: 10 }, () => ({ firstChoice: 0.1, max: 0.2 }));
  expect(totalPrice(prices)).toEqual({ firstChoice: 1, max: 2 });
});
