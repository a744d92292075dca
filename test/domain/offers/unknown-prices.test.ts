// Types with an unknown price, types with GPUs, and the nearest types when none fits.
import { describe, expect, it } from 'vitest';

import { cheapestFirst, chooseTypes, typesOf, type InstanceFamilies } from '../../../domain/offers/choose.ts';
import { RopewalkError } from '../../../domain/errors.ts';
import type { Offer } from '../../../domain/offers/offer.ts';
import { gpuTypeOf, type InstanceRequirements } from '../../../domain/offers/requirements.ts';

const gib = 2 ** 30;
const offer = (type: string, pricePerHour: number | null, more: Partial<Offer> = {}): Offer => ({
  ...{ type, pricePerHour, market: 'on-demand', zone: 'a', vcpus: 2, memoryBytes: 8 * gib, architecture: 'x86_64' },
  ...{ gpus: 0, gpuName: null, ...more },
});
const families: InstanceFamilies = { balanced: /^m/, all: /^[mcr]/, gpu: /^g/ };
const required: InstanceRequirements = {
  ...{ types: null, vcpus: { min: 2, max: 2 }, memoryBytes: null, gpus: 0, gpuType: null, architecture: 'x86_64' },
};
const sought = { market: 'on-demand', zones: [] } as const;
const choose = (offers: Offer[], more: Partial<InstanceRequirements> = {}) =>
  chooseTypes(offers, { ...required, ...more }, { ...sought, families }).map(({ type }) => type);
const refused = (offers: Offer[], more: Partial<InstanceRequirements> = {}): unknown => {
  try {
    return choose(offers, more);
  } catch (error) {
    return error;
  }
};

describe('a price', () => {
  it('is the lowest that is known among the zones', () => {
    const priceOf = (...prices: (number | null)[]) =>
      typesOf(
        prices.map((price, nth) => offer('m.a', price, { zone: String(nth) })),
        sought,
      )[0]?.pricePerHour;
    expect([priceOf(2, null), priceOf(null, 2), priceOf(3, 2), priceOf(2, 3), priceOf(null, null)]).toEqual([
      ...[2, 2, 2, 2, null],
    ]);
  });

  it('that is unknown comes last, and equal prices are in the order of names', () => {
    const offers = [offer('m.d', null), offer('m.b', 2), offer('m.c', 1), offer('m.a', 2), offer('m.0', null)];
    expect(choose(offers)).toEqual(['m.c', 'm.a', 'm.b', 'm.0', 'm.d']);
    expect(choose(offers.toReversed())).toEqual(['m.c', 'm.a', 'm.b', 'm.0', 'm.d']);
    const [known, unknown] = typesOf([offer('m.z', 5), offer('m.a', null)], sought);
    if (known === undefined || unknown === undefined) throw new Error('there are two');
    expect([cheapestFirst(known, unknown), cheapestFirst(unknown, known)].map(Math.sign)).toEqual([-1, 1]);
  });

  it('that is unknown is reported as unknown', () => {
    const error = refused([offer('m.a', null, { vcpus: 8 })]);
    expect(error).toMatchObject({
      problem: { hint: expect.stringContaining('m.a (8 vCPU, 8.00 GiB, price unknown)') },
    });
  });
});

it('twenty types at most are chosen, the cheapest', () => {
  const many = Array.from({ length: 25 }, (_, nth) => offer(`m.${nth}`, 25 - nth));
  expect(choose(many)).toEqual(Array.from({ length: 20 }, (_, nth) => `m.${24 - nth}`));
});

describe('a GPU', () => {
  const gpus = [
    offer('g.t4', 1, { gpus: 1, gpuName: 'NVIDIA T4' }),
    offer('g.a10', 2, { gpus: 1, gpuName: 'NVIDIA A10G' }),
    offer('g.none', 0.5, { gpus: 1, gpuName: null }),
    offer('m.a', 0.1),
  ];

  it('of a type is found by that name alone', () => {
    expect(choose(gpus, { gpus: 1 })).toEqual(['g.none', 'g.t4', 'g.a10']);
    expect(choose(gpus, { gpus: 1, gpuType: gpuTypeOf('nvidia-tesla-t4') })).toEqual(['g.t4']);
    expect(choose(gpus, { gpus: 1, gpuType: gpuTypeOf('A10G') })).toEqual(['g.a10']);
  });

  it('that is not on offer is named in the error', () => {
    expect(refused(gpus, { gpus: 1, gpuType: 'h100' })).toMatchObject({
      problem: { field: 'gpuType', message: 'There is no instance type with 2 vCPU and a GPU of the type h100.' },
    });
    expect(refused([offer('m.a', 0.1)], { gpus: 1 })).toMatchObject({
      problem: { field: 'cpu', message: 'There is no instance type with 2 vCPU and a GPU.' },
    });
    expect(refused(gpus, { architecture: 'arm64' })).toMatchObject({
      problem: {
        message: 'There is no instance type with 2 vCPU and an ARM processor.',
        hint: 'See `ropewalk instance-types` for what there is.',
      },
    });
  });

  it.each([
    ['nvidia-tesla-t4', 'NVIDIA T4'],
    ['Tesla T4', 't4'],
    ['A100-80GB', 'nvidia a100 80gb'],
  ])('%s is the same as %s', (one, other) => expect(gpuTypeOf(one)).toBe(gpuTypeOf(other)));
});

describe('what comes near', () => {
  it('has the memory that was asked and nearly the CPUs, or the CPUs and nearly the memory: three of each', () => {
    const offers = [
      ...[1, 4, 8, 16, 32].map((vcpus) => offer(`m.cpu${vcpus}`, vcpus, { vcpus })),
      ...[2, 16, 32, 64].map((memory) => offer(`r.mem${memory}`, memory, { vcpus: 3, memoryBytes: memory * gib })),
    ];
    const error = refused(offers, {
      vcpus: { min: 3, max: 3 },
      memoryBytes: { min: 7.5 * gib, max: 8.5 * gib },
    });
    const hint = error instanceof RopewalkError ? (error.problem.hint ?? '') : '';
    expect([...hint.matchAll(/(\w\.\w+) \(/g)].map(([, name]) => name)).toEqual([
      ...['m.cpu4', 'm.cpu8', 'm.cpu1', 'r.mem16', 'r.mem2', 'r.mem32'],
    ]);
  });

  it('is of the family of a type that does not exist', () => {
    const offers = [offer('m6i.large', 1), offer('m6i.xlarge', 2), offer('m5.large', 1)];
    expect(refused(offers, { types: ['m6i.huge'] })).toMatchObject({
      problem: { field: 'vmTypes', hint: 'Of this family there are: m6i.large, m6i.xlarge.' },
    });
    expect(refused(offers, { types: ['x9.huge'] })).toMatchObject({
      problem: { hint: 'See `ropewalk instance-types`.' },
    });
    const twelve = Array.from({ length: 12 }, (_, nth) => offer(`m6i.s${nth}`, 1));
    expect(refused(twelve, { types: ['m6i.huge'] })).toMatchObject({
      problem: {
        hint: `Of this family there are: ${Array.from({ length: 10 }, (_, nth) => `m6i.s${nth}`).join(', ')}.`,
      },
    });
  });
});
