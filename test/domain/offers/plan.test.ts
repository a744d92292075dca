// The possible results of a launch: plain cases, and 10,000 simulations of any offers and any request.
import { describe, expect, it } from 'vitest';

import type { Offer } from '../../../domain/offers/offer.ts';
import * as rules from '../../../domain/offers/plan.ts';
import type { RoleRequest } from '../../../domain/offers/plan.ts';
import { anOffer, checkPlanSimulations } from '../../builders/plan-simulation.ts';
import { describeShares } from '../../builders/simulations.ts';

const { planRole, totalPrice } = rules;
const offers: Offer[] = [
  anOffer('m6i.large', 'a', 'on-demand', 0.2),
  anOffer('m6i.large', 'b', 'on-demand', 0.2),
  anOffer('m6i.large', 'a', 'spot', 0.09),
  anOffer('m6i.large', 'b', 'spot', 0.05),
  anOffer('m5.large', 'a', 'on-demand', 0.1),
  anOffer('m5.large', 'c', 'on-demand', 9),
];
const request: RoleRequest = { count: 10, types: ['m6i.large', 'm5.large'], markets: ['on-demand'], zones: ['a', 'b'] };

describe('a role', () => {
  it('costs what its first type costs on demand, and at most what the dearest does where it may run', () => {
    const planned = planRole(offers, request);
    expect(planned.pricePerHour).toEqual({ firstChoice: 2, max: 2 });
    expect(planned.types).toMatchObject([
      { type: 'm6i.large', zones: ['a', 'b'], pricePerHour: 0.2, spotPricePerHour: 0.05 },
      { type: 'm5.large', zones: ['a'], pricePerHour: 0.1, spotPricePerHour: null },
    ]);
    const named = planRole(offers, { ...request, types: ['m5.large', 'm6i.large'] });
    expect(named.pricePerHour).toEqual({ firstChoice: 1, max: 2 });
  });

  it('on the spot market begins with the cheapest, and with a fall-back may cost what it costs on demand', () => {
    expect(planRole(offers, { ...request, markets: ['spot'] }).pricePerHour).toEqual({ firstChoice: 0.5, max: 0.9 });
    const both = planRole(offers, { ...request, markets: ['spot', 'on-demand'] });
    expect(both.pricePerHour).toEqual({ firstChoice: 0.5, max: 2 });
  });

  it('costs with public addresses what they cost on its market, and what is unknown stays so', () => {
    const addressPerHour = { 'on-demand': 0.005, spot: 0.0025 };
    const both: RoleRequest = { ...request, markets: ['spot', 'on-demand'], addressPerHour };
    expect(planRole(offers, both).pricePerHour).toEqual({ firstChoice: 0.525, max: 2.05 });
    const unknown = [...offers, { ...anOffer('m7i.large', 'a', 'on-demand', 0), pricePerHour: null }];
    const types = ['m7i.large', 'm6i.large'];
    expect(planRole(unknown, { ...request, types, addressPerHour }).pricePerHour).toEqual({
      ...{ firstChoice: null, max: null },
    });
  });

  it('of no instance costs nothing', () => {
    expect(planRole(offers, { ...request, count: 0 }).pricePerHour).toEqual({ firstChoice: 0, max: 0 });
  });
});

it('no launched instance costs more than the plan says, and the first choice costs what it says', () => {
  const shares = checkPlanSimulations(rules, { numRuns: 10_000 });
  console.log(`plan simulations reached: ${describeShares(shares)}`);
  for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
});

it('everything together is the sum, to a ten-thousandth of a dollar', () => {
  const prices = Array.from({ length: 10 }, () => ({ firstChoice: 0.1, max: 0.2 }));
  expect(totalPrice(prices)).toEqual({ firstChoice: 1, max: 2 });
});
