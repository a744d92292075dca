// Instance types built to measure: their shapes by the rules of a family, and when they are chosen.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { chooseTypes, type Choosing } from '../../../domain/offers/choose.ts';
import { customMemory, customShapes, type CustomFamily } from '../../../domain/offers/custom.ts';
import type { Offer } from '../../../domain/offers/offer.ts';
import { parseRequirements, type RequirementsInput } from '../../../domain/offers/requirements.ts';

const family: CustomFamily = {
  ...{ name: 'x', vcpus: [2, 4, 6, 8, 12], memoryPerVcpu: [512, 8_192], maxMemory: 65_536, step: 256 },
};
const shapesOf = (input: RequirementsInput) =>
  customShapes(parseRequirements(input), [family]).map(({ vcpus, memoryMib }) => `${vcpus} ${memoryMib}`);

describe('the shapes of custom types', () => {
  it.each<[string, RequirementsInput, string[]]>([
    ['CPUs and memory', { cpu: 6, memory: '20 GiB' }, ['6 20480']],
    ['the next step of memory', { cpu: 6, memory: '20.1 GiB' }, ['6 20736']],
    [
      'each permitted number of a range, with the least memory',
      { cpu: [5, 9], memory: ['20 GiB', '40 GiB'] },
      ['6 20480', '8 20480'],
    ],
    ['no permitted number', { cpu: 5, memory: '20 GiB' }, []],
    ['CPUs alone, with four GiB for each', { cpu: 6 }, ['6 24576']],
    ['memory alone, with a vCPU for each four GiB', { memory: '25 GiB' }, ['6 25600']],
    ['the most memory of the family, within the tolerance', { cpu: 2, memory: '17 GiB' }, ['2 16384']],
    ['more than the family has', { cpu: 2, memory: '20 GiB' }, []],
    ['the least memory of the family, within the tolerance', { cpu: 4, memory: '1.9 GiB' }, ['4 2048']],
    ['less than the family has', { cpu: 4, memory: '1 GiB' }, []],
    ['more than the total of the family', { cpu: 12, memory: '90 GiB' }, []],
    ['a GPU', { cpu: 6, memory: '20 GiB', gpu: 1 }, []],
  ])('%s', (_, input, expected) => {
    expect(shapesOf(input)).toEqual(expected);
  });

  it('obey the rules of the family and the requirements, whatever is asked', () => {
    const memory = fc.tuple(fc.integer({ min: 1, max: 99_999 }), fc.integer({ min: 0, max: 50_000 }));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 14 }),
        fc.integer({ min: 0, max: 8 }),
        memory,
        (cpu, more, [least, above]) => {
          const wanted = parseRequirements({
            cpu: [cpu, cpu + more],
            memory: [`${least} MiB`, `${least + above} MiB`],
          });
          for (const { vcpus, memoryMib } of customShapes(wanted, [family])) {
            const [min, max] = customMemory(family, vcpus);
            expect(family.vcpus).toContain(vcpus);
            expect([vcpus >= cpu, vcpus <= cpu + more, memoryMib % 256]).toEqual([true, true, 0]);
            expect([memoryMib >= min, memoryMib <= max]).toEqual([true, true]);
            expect([memoryMib >= least * 0.9, memoryMib <= (least + above) * 1.1 + 1]).toEqual([true, true]);
          }
        },
      ),
    );
  });
});

describe('a type built to measure', () => {
  const gib = 2 ** 30;
  const offer = (type: string, vcpus: number, memoryGib: number, more: Partial<Offer> = {}): Offer => ({
    ...{ type, vcpus, memoryBytes: memoryGib * gib, zone: 'a', market: 'on-demand', architecture: 'x86_64' },
    ...{ gpus: 0, gpuName: null, pricePerHour: vcpus / 10, ...more },
  });
  const listed = [offer('m-4', 4, 16), offer('m-8', 8, 32)];
  const built = [
    offer('custom-dear', 6, 20, { pricePerHour: 0.9 }),
    offer('custom-6', 6, 20),
    offer('custom-7', 7, 20),
  ];
  const every = /^/;
  const choosing: Choosing = {
    ...{ families: { balanced: every, all: every, gpu: every }, market: 'on-demand', zones: [] },
    toMeasure: () => built,
  };
  const choose = (input: RequirementsInput, change: Partial<Choosing> = {}) =>
    chooseTypes(listed, parseRequirements(input), { ...choosing, ...change }).map(({ type }) => type);

  it('is chosen when no listed type fits, the cheapest first, and only if it fits', () => {
    expect(choose({ cpu: 6, memory: '20 GiB' })).toEqual(['custom-6', 'custom-dear']);
    expect(choose({ cpu: [6, 7], memory: '20 GiB' })).toEqual(['custom-6', 'custom-7', 'custom-dear']);
  });

  it('is not chosen beside a listed type, in a zone or on a market without it', () => {
    expect(choose({ cpu: 4, memory: '16 GiB' })).toEqual(['m-4']);
    expect(choose({ cpu: [4, 6] })).toEqual(['m-4']);
    expect(() => choose({ cpu: 6, memory: '20 GiB' }, { zones: ['b'] })).toThrow('no instance type with 6 vCPU');
    expect(() => choose({ cpu: 6, memory: '20 GiB' }, { market: 'spot' })).toThrow('no instance type with 6 vCPU');
  });

  it('that does not exist is refused with listed types that are near', () => {
    const near = expect.objectContaining({ hint: expect.stringContaining('m-8 (8 vCPU, 32.00 GiB') });
    expect(() => choose({ cpu: 6, memory: '30 GiB' }, { toMeasure: () => [] })).toThrow(
      expect.objectContaining({ problem: near }),
    );
    const custom = expect.objectContaining({
      hint: expect.stringMatching(/^Near to it: custom-6 .*; custom-dear .*; custom-7 /),
    });
    expect(() => choose({ cpu: 5, memory: '20 GiB' })).toThrow(expect.objectContaining({ problem: custom }));
  });
});
