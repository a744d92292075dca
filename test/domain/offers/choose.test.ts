// Choosing instance types: the seeds' own examples, and the invariants for any requirements and any offer.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { cheapestFirst, chooseTypes, maxTypes } from '../../../domain/offers/choose.ts';
import type { Choosing } from '../../../domain/offers/choose.ts';
import type { Offer } from '../../../domain/offers/offer.ts';
import { parseRequirements } from '../../../domain/offers/requirements.ts';
import type { RequirementsInput } from '../../../domain/offers/requirements.ts';
import { RopewalkError } from '../../../domain/errors.ts';
import { awsFamilies } from '../../../providers/aws/families.ts';
import { catalogueOffers } from '../../../providers/aws/catalogue.ts';

const gib = 2 ** 30;
const offers = catalogueOffers('us-east-1', ['us-east-1a', 'us-east-1b']);
const aws: Choosing = { families: awsFamilies, market: 'on-demand', zones: [] };
const choose = (input: RequirementsInput, choosing: Choosing = aws) =>
  chooseTypes(offers, parseRequirements(input), choosing);

function problemOf(act: () => unknown) {
  try {
    act();
  } catch (error) {
    if (error instanceof RopewalkError) return error.problem;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('the choice by requirements', () => {
  it('for 32 GiB with one CPU is refused with what comes near, and met by a range of CPUs', () => {
    const { field, message, hint } = problemOf(() => choose({ memory: '32 GiB', cpu: 1 }));
    expect([field, message]).toEqual(['cpu', 'There is no instance type with 1 vCPU and 32.00 GiB of memory.']);
    expect(hint).toMatch(/2 vCPU|4 vCPU/);
    expect(hint).toContain('GiB');
    const [cheapest] = choose({ memory: '32 GiB', cpu: [1, 8] });
    expect(cheapest?.memoryBytes).toBe(32 * gib);
  });

  it('for nothing in particular means four vCPUs of a balanced family, the cheapest first', () => {
    const chosen = choose({});
    expect(new Set(chosen.map(({ vcpus, memoryBytes }) => [vcpus, memoryBytes / gib].join()))).toEqual(
      new Set(['4,16']),
    );
    expect(chosen.map(({ type }) => type)).toEqual(expect.arrayContaining(['m5.xlarge', 'm6i.xlarge']));
    expect(chosen).toEqual(chosen.toSorted(cheapestFirst));
  });

  it('for CPUs alone keeps to balanced families; with memory, compute and memory families come in', () => {
    expect(choose({ cpu: 8 }).every(({ type }) => /^[mt]/.test(type))).toBe(true);
    expect(choose({ cpu: 8, memory: '16 GiB' }).every(({ type }) => type.startsWith('c'))).toBe(true);
    expect(choose({ cpu: 8, memory: '64 GiB' }).every(({ type }) => type.startsWith('r'))).toBe(true);
  });

  it('allows memory a tenth either way', () => {
    expect(choose({ memory: '15 GiB' }).every(({ memoryBytes }) => memoryBytes === 16 * gib)).toBe(true);
    expect(problemOf(() => choose({ memory: '14 GiB', cpu: 4 })).field).toBe('cpu');
  });

  it('for ARM or a GPU gives only such', () => {
    expect(choose({ arm: true }).every(({ architecture }) => architecture === 'arm64')).toBe(true);
    expect(choose({ gpu: true, cpu: [1, 96] })[0]).toMatchObject({ type: 'g4dn.xlarge', gpus: 1, gpuName: 'T4' });
  });

  it('for types keeps their order, refuses unknown ones by name, and mixed architectures', () => {
    expect(choose({ types: ['r6i.large', 'm5.large'] }).map(({ type }) => type)).toEqual(['r6i.large', 'm5.large']);
    const unknown = problemOf(() => choose({ types: ['m6i.huge'] }));
    expect([unknown.field, unknown.hint?.includes('m6i.large')]).toEqual(['vmTypes', true]);
    expect(problemOf(() => choose({ types: ['m6i.large', 'm6g.large'] })).message).toContain('two architectures');
  });

  it.each<[RequirementsInput, string]>([
    [{ types: ['m5.large'], cpu: 2 }, 'vmTypes'],
    [{ types: [] }, 'vmTypes'],
    [{ cpu: [8, 2] }, 'cpu'],
    [{ cpu: 0 }, 'cpu'],
    [{ cpu: 1.5 }, 'cpu'],
    [{ memory: 'much' }, 'memory'],
    [{ memory: ['8 GiB', '4 GiB'] }, 'memory'],
    [{ gpu: 2 }, 'gpu'],
  ])('%j is refused, naming %s', (input, field) => {
    expect(problemOf(() => parseRequirements(input)).field).toBe(field);
  });

  it('names the fields as the request wrote them', () => {
    expect(problemOf(() => parseRequirements({ cpu: 0 }, 'worker')).field).toBe('workerCpu');
  });
});

describe('any choice', () => {
  const shapes = [
    { type: 'm5.a', vcpus: 4, gibs: 16 },
    { type: 'm5.b', vcpus: 8, gibs: 32 },
    { type: 't3.a', vcpus: 4, gibs: 16 },
    { type: 'c5.a', vcpus: 8, gibs: 16 },
    { type: 'r5.a', vcpus: 4, gibs: 32 },
    { type: 'x1.a', vcpus: 4, gibs: 16 },
    { type: 'm6g.a', vcpus: 4, gibs: 16 },
    { type: 'g4dn.a', vcpus: 4, gibs: 16 },
  ].map(({ gibs, ...shape }) => ({
    ...shape,
    memoryBytes: gibs * gib,
    architecture: shape.type.startsWith('m6g') ? ('arm64' as const) : ('x86_64' as const),
    gpus: shape.type.startsWith('g4dn') ? 1 : 0,
    gpuName: null,
  }));
  const places = (['a', 'b', 'c'] as const).flatMap((zone) =>
    (['on-demand', 'spot'] as const).map((market) => ({ zone, market })),
  );
  const everything = shapes.flatMap((shape) => places.map((place) => ({ ...shape, ...place })));
  const offered: fc.Arbitrary<Offer[]> = fc
    .tuple(fc.subarray(everything, { minLength: 10 }), fc.infiniteStream(fc.integer({ min: 1, max: 100 })))
    .map(([list, prices]) => list.map((each) => ({ ...each, pricePerHour: prices.next().value ?? 1 })));
  const requirements = fc.record({
    cpu: fc.option(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 4, max: 16 })), { nil: undefined }),
    memory: fc.constantFrom(undefined, '16 GiB', '17 GiB', '32 GiB', '64 GiB'),
    arm: fc.boolean(),
    gpu: fc.boolean(),
  });
  const zones = fc.subarray(['a', 'b', 'c']);
  const market = fc.constantFrom('on-demand' as const, 'spot' as const);

  it('fits the requirements, the market and the zones, is bounded, and does not depend on the order of offers', () => {
    let met = 0;
    const property = fc.property(offered, requirements, zones, market, (list, input, where, sold) => {
      const read = parseRequirements(input);
      const chosen = chosenOf(list, read, { families: awsFamilies, market: sold, zones: where });
      const again = chosenOf(list.toReversed(), read, { families: awsFamilies, market: sold, zones: where });
      expect(again.map(({ type }) => type)).toEqual(chosen.map(({ type }) => type));
      expect(chosen.length).toBeLessThanOrEqual(maxTypes);
      for (const type of chosen) {
        met += 1;
        expect([type.architecture === 'arm64', type.gpus === 1, type.type]).toEqual([input.arm, input.gpu, type.type]);
        expect(type.type).not.toBe('x1.a');
        if (read.vcpus !== null) expect(type.vcpus).toBeGreaterThanOrEqual(read.vcpus.min);
        if (read.memoryBytes !== null) expect(type.memoryBytes).toBeLessThanOrEqual(read.memoryBytes.max);
        const own = list.filter((each) => each.type === type.type && each.market === sold);
        const inZones = own.filter(({ zone }) => where.length === 0 || where.includes(zone));
        expect(type.zones.toSorted()).toEqual(inZones.map(({ zone }) => zone).toSorted());
        expect(type.pricePerHour).toBe(Math.min(...inZones.map(({ pricePerHour }) => pricePerHour ?? Number.NaN)));
      }
    });
    fc.assert(property, { numRuns: 2_000 });
    expect(met).toBeGreaterThan(500);
  });
});

function chosenOf(...[list, requirements, choosing]: Parameters<typeof chooseTypes>): ReturnType<typeof chooseTypes> {
  try {
    return chooseTypes(list, requirements, choosing);
  } catch (error) {
    if (error instanceof RopewalkError) return [];
    throw error;
  }
}
