// Prices of EC2 by region: the generator of the table, the table, and the choice among types without a price.
import { describe, expect, it } from 'vitest';

import { chooseTypes } from '../../domain/offers/choose.ts';
import type { Offer } from '../../domain/offers/offer.ts';
import { planRole, totalPrice } from '../../domain/offers/plan.ts';
import { parseRequirements } from '../../domain/offers/requirements.ts';
import { catalogueOffers, onDemandPrice, pricesOfRegion } from '../../providers/aws/catalogue.ts';
import { awsFamilies } from '../../providers/aws/families.ts';
import { agreedFactor, derivePrices } from '../../providers/aws/prices/derive.ts';
import { readPriceList } from '../../providers/aws/prices/price-list.ts';

const head = [
  ...['"FormatVersion","v1.0"', '"Publication Date","2026-11-20T10:00:00Z"', '"OfferCode","AmazonEC2"'],
  '"SKU","TermType","Unit","PricePerUnit","Currency","Instance Type","Tenancy","Operating System","CapacityStatus","Pre Installed S/W","PriceDescription"',
];
const row = (given: { [column: string]: string } = {}): string =>
  Object.values({
    ...{ sku: 'X', term: 'OnDemand', unit: 'Hrs', price: '0.1070000000', currency: 'USD', type: 'm5.large' },
    ...{ tenancy: 'Shared', system: 'Linux', capacity: 'Used', software: 'NA', text: 'a ""large"", by the hour' },
    ...given,
  })
    .map((cell) => `"${cell}"`)
    .join(',');

describe("AWS's public price list", () => {
  it('gives the price of shared Linux instances on demand, and of nothing else', async () => {
    const others = [
      ...[{ term: 'Reserved' }, { unit: 'Quantity' }, { tenancy: 'Dedicated' }, { system: 'Windows' }],
      ...[
        { capacity: 'UnusedCapacityReservation' },
        { software: 'SQL Std' },
        { price: '0.0000000000' },
        { type: 'm5' },
      ],
    ].map((given) => row({ price: '9.9', ...given }));
    const found = await readPriceList([...head, ...others, row(), row({ type: 'm5.xlarge', price: '0.214' }), '']);
    expect(found.asOf).toBe('2026-11-20');
    expect([...found.prices]).toEqual([
      ['m5.large', 0.107],
      ['m5.xlarge', 0.214],
    ]);
  });

  it('of another form is an error that names what is missing', async () => {
    await expect(readPriceList(['"SKU","TermType"'])).rejects.toThrow('lacks the column Unit');
    await expect(readPriceList(['<html>'])).rejects.toThrow('lacks a line that begins with SKU');
    await expect(readPriceList(head.slice(3))).rejects.toThrow('lacks a publication date');
  });
});

describe('prices out of a list with errors', () => {
  const exact = new Map(
    ['large', 'xlarge', '2xlarge', '4xlarge'].map((size, power) => [`m5.${size}`, 0.1 * 2 ** power]),
  );

  it('follow the factor that most sizes agree on, for sizes with a wrong price too, not for those that are not listed', () => {
    const listed = new Map([
      ...[['m5.large', 0.12] as const, ['m5.xlarge', 0.24] as const],
      ...[['m5.2xlarge', 0] as const, ['c5.large', 0.3] as const],
    ]);
    expect([...derivePrices(exact, listed)]).toEqual([
      ['m5.large', 0.12],
      ['m5.xlarge', 0.24],
      ['m5.2xlarge', 0.48],
    ]);
  });

  it('leave out the surcharge of dedicated hardware, and families on which nothing agrees', () => {
    expect(agreedFactor([1.32, 1.32, 1.32, 1.2])).toBe(1.2);
    expect(agreedFactor([1.272, 1.272, 1.2])).toBe(1.2);
    expect(agreedFactor([1.2, 1.5])).toBeNull();
    expect(agreedFactor([])).toBeNull();
  });
});

describe('the table of prices', () => {
  it('has a source and a date for each region, and prices that can be', () => {
    expect(pricesOfRegion('us-east-1')).toEqual({
      source: "Karpenter's table of AWS's price list",
      asOf: '2026-07-20',
    });
    expect(pricesOfRegion('eu-central-1')?.asOf).toBe('2025-03-02');
    expect(pricesOfRegion('eu-west-9')).toBeNull();
    // From AWS's pages.
    expect(onDemandPrice('us-east-1', 'm5.large')).toBe(0.096);
    expect(onDemandPrice('us-west-2', 'm5.large')).toBe(0.096);
    expect(onDemandPrice('eu-central-1', 'm5.large')).toBe(0.115);
    expect(onDemandPrice('sa-east-1', 'm5.large')).toBe(0.153);
    expect(onDemandPrice('eu-central-1', 'x0.none')).toBeNull();
  });

  it('serves alone without credentials; in a region without prices, every type there is', () => {
    const types = (region: string) => catalogueOffers(region, ['a']).map(({ pricePerHour }) => pricePerHour);
    expect(types('eu-central-1').length).toBeGreaterThan(500);
    expect(types('eu-central-1')).not.toContain(null);
    expect(types('eu-west-9').length).toBeGreaterThan(1_000);
    expect(new Set(types('eu-west-9'))).toEqual(new Set([null]));
  });
});

describe('a type without a price', () => {
  const of = (type: string, pricePerHour: number | null): Offer => ({
    ...{ type, zone: 'a', market: 'on-demand', vcpus: 4, memoryBytes: 16 * 2 ** 30, pricePerHour },
    ...{ architecture: 'x86_64', gpus: 0, gpuName: null },
  });
  const offers = [of('m8i.xlarge', null), of('m7i.xlarge', 0.2), of('m6i.xlarge', 0.19)];
  const chosen = (input: object) =>
    chooseTypes(offers, parseRequirements(input), { families: awsFamilies, market: 'on-demand', zones: [] }).map(
      ({ type }) => type,
    );
  const plan = (types: string[]) =>
    planRole(offers, { count: 2, types, markets: ['on-demand'], zones: ['a'] }).pricePerHour;

  it('is on offer, after those with one', () => {
    expect(chosen({ types: ['m8i.xlarge'] })).toEqual(['m8i.xlarge']);
    expect(chosen({ cpu: 4 })).toEqual(['m6i.xlarge', 'm7i.xlarge', 'm8i.xlarge']);
  });

  it('makes the price of a plan unknown: of the first choice, or of the dearest', () => {
    expect(plan(['m6i.xlarge', 'm7i.xlarge'])).toEqual({ firstChoice: 0.38, max: 0.4 });
    expect(plan(['m6i.xlarge', 'm8i.xlarge'])).toEqual({ firstChoice: 0.38, max: null });
    expect(plan(['m8i.xlarge'])).toEqual({ firstChoice: null, max: null });
    expect(totalPrice([plan(['m8i.xlarge']), plan(['m6i.xlarge'])])).toEqual({ firstChoice: null, max: null });
  });
});
