// Custom machine types: their names, their prices, and that they launch.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Offer } from '../../domain/offers/offer.ts';
import { offersOf, priceOf } from '../../providers/gcp/catalogue.ts';
import { parseRequirements, type RequirementsInput } from '../../domain/offers/requirements.ts';
import { customOffers, customProblem, gcpPriceOf, offersToMeasure } from '../../providers/gcp/custom-types.ts';
import { launchPrice } from '../../providers/gcp/prices.ts';
import { machineTypeNamed } from '../emulator/gcp/types.ts';
import { createRandom } from '../support/random.ts';
import { freshOwner, type GcpTestCloud, placement, startGcpCloud, workersRequest } from './gcp-cloud.ts';

const region = 'us-central1';
const listed = (family: string, zone: string): Offer[] =>
  offersOf(
    { region, zone, isListed: true },
    { type: `${family}-standard-4`, vcpus: 4, memoryBytes: 2 ** 34, architecture: 'x86_64', gpus: 0, gpuName: null },
    [],
  );

describe('the name of a custom machine type', () => {
  it.each([
    ['n2-custom-4-16384', null],
    ['custom-1-3840', null],
    ['n4-custom-80-655360', null],
    ['n2-standard-4', null],
    ['n2-custom-5-16384', 'n2-custom has 2 to 32, even, or 36 to 128 in steps of 4 vCPUs, not 5.'],
    ['n2-custom-4-16000', 'n2-custom-4 has 2048 to 32768 MiB of memory, a multiple of 256, not 16000.'],
    ['e2-custom-32-262144', 'e2-custom-32 has 16384 to 131072 MiB'],
    ['n4-custom-4-4096', 'n4-custom-4 has 8192 to 32768 MiB'],
    ['c3-custom-4-16384', 'The family c3 has no custom machine types here: e2, n1, n2, n2d, n4 have.'],
    ['n2-custom-4-65536-ext', 'is named FAMILY-custom-VCPUS-MIB'],
    ['n2-custom-04-16384', 'without leading zeros'],
    ['n2-custom-4-016384', 'without leading zeros'],
  ])('%s: %s', (name, problem) => {
    if (problem === null) expect(customProblem(name)).toBeNull();
    else expect(customProblem(name)).toContain(problem);
  });

  it('is refused exactly where the emulated project does not have it', () => {
    const random = createRandom(20_261_124);
    const families = ['e2', 'n1', 'n2', 'n2d', 'n4', 'c3', 't2a'];
    let right = 0;
    for (let count = 0; count < 5_000; count += 1) {
      const vcpus = 1 + Math.floor(random() * 140);
      const name = `${families[count % families.length]}-custom-${vcpus}-${256 * Math.floor(random() * vcpus * 40)}`;
      const isRight = customProblem(name) === null;
      expect([name, machineTypeNamed(name)?.vcpus]).toEqual([name, isRight ? vcpus : undefined]);
      right += Number(isRight);
    }
    expect(right).toBeGreaterThan(200);
  });
});

describe('the price of a custom machine type', () => {
  it('is that of as much in predefined types, and 5 % more but for E2', () => {
    for (const [custom, predefined, premium] of [
      ['n2-custom-8-32768', 'n2-standard-8', 1.05],
      ['n2d-custom-16-131072', 'n2d-highmem-16', 1.05],
      ['n4-custom-8-16384', 'n4-highcpu-8', 1.05],
      ['custom-8-30720', 'n1-standard-8', 1.05],
      ['e2-custom-8-32768', 'e2-standard-8', 1],
    ] as const)
      for (const market of ['on-demand', 'spot'] as const) {
        const expected = (priceOf(region, predefined, market) ?? 0) * premium;
        expect((gcpPriceOf(region, custom, market) ?? 0) / expected, `${custom} ${market}`).toBeCloseTo(1, 2);
      }
    const disk = { diskGib: 30, market: 'on-demand' as const };
    const { microsPerHour, source } = launchPrice(
      { region, assignPublicIps: true },
      { type: 'n2-custom-8-32768', ...disk },
    );
    expect([microsPerHour, source]).toEqual([407_900, expect.stringContaining('list price of us-central1')]);
    expect(gcpPriceOf('mars-north1', 'n2-custom-8-32768', 'on-demand')).toBeNull();
  });

  it('is on offer by name, in the zones of its family', () => {
    const there = [
      ...listed('n2', 'us-central1-a'),
      ...listed('n2', 'us-central1-b'),
      ...listed('e2', 'us-central1-c'),
    ];
    const offers = customOffers(there, region, [
      'n2-custom-6-20480',
      'n2-custom-6-20480',
      'n2-standard-4',
      'n2-custom-5-1',
    ]);
    expect(offers.map(({ type, zone, market }) => `${type} ${zone} ${market}`)).toEqual([
      'n2-custom-6-20480 us-central1-a on-demand',
      'n2-custom-6-20480 us-central1-b on-demand',
      'n2-custom-6-20480 us-central1-a spot',
      'n2-custom-6-20480 us-central1-b spot',
    ]);
    expect(offers[0]).toMatchObject({ vcpus: 6, memoryBytes: 20 * 2 ** 30, architecture: 'x86_64', gpus: 0 });
  });
});

describe('a request by CPUs and memory', () => {
  const zone = 'us-central1-a';
  const all = [
    ...listed('n2', zone),
    ...listed('n2d', zone),
    ...listed('n4', zone),
    ...listed('n1', zone),
    ...listed('e2', zone),
  ];
  const namesFor = (input: RequirementsInput, from = all): string[] => [
    ...new Set(offersToMeasure(from, region, parseRequirements(input)).map(({ type }) => type)),
  ];

  it.each<[string, RequirementsInput, string[]]>([
    ['of recent families', { cpu: 6, memory: '20 GiB' }, ['n2-custom-6-20480', 'n4-custom-6-20480']],
    [
      'of N2D, where it has them',
      { cpu: 16, memory: '60 GiB' },
      ['n2-custom-16-61440', 'n2d-custom-16-61440', 'n4-custom-16-61440'],
    ],
    ['of N1, which alone has one vCPU', { cpu: 1, memory: '5 GiB' }, ['custom-1-5120']],
    ['of none, for an odd number', { cpu: 7, memory: '20 GiB' }, []],
    ['of none, for ARM', { cpu: 6, memory: '20 GiB', arm: true }, []],
    ['of none, for a GPU', { cpu: 6, memory: '20 GiB', gpu: 1 }, []],
  ])('gets custom types %s', (_, input, expected) => {
    expect(namesFor(input)).toEqual(expected);
  });

  it('gets those of a family of the region, older ones where it has no recent one', () => {
    expect(namesFor({ cpu: 6, memory: '20 GiB' }, listed('n4', zone))).toEqual(['n4-custom-6-20480']);
    expect(namesFor({ cpu: 6, memory: '20 GiB' }, listed('e2', zone))).toEqual(['e2-custom-6-20480']);
    expect(namesFor({ cpu: 6, memory: '20 GiB' }, [])).toEqual([]);
  });

  it('gets only names that exist, with prices above zero', () => {
    const random = createRandom(6);
    let found = 0;
    for (let count = 0; count < 400; count += 1) {
      const cpu = 1 + Math.floor(random() * 130);
      const memory = `${1 + Math.floor(random() * cpu * 9_000)} MiB`;
      for (const { type, market, pricePerHour } of offersToMeasure(all, region, parseRequirements({ cpu, memory }))) {
        expect([type, market, customProblem(type), machineTypeNamed(type)?.vcpus]).toEqual([type, market, null, cpu]);
        expect(pricePerHour ?? 0).toBeGreaterThan(0);
        found += 1;
      }
    }
    expect(found).toBeGreaterThan(200);
  });
});

describe('a launch of custom machine types', () => {
  let cloud: GcpTestCloud;
  beforeAll(async () => {
    cloud = await startGcpCloud();
  });
  afterAll(() => cloud?.close());

  it.each(['n2-custom-4-16384', 'n4-custom-2-8192', 'e2-custom-4-8192', 'custom-2-7680'])('%s', async (type) => {
    const owner = freshOwner();
    const { launched, failures } = await cloud.provider.launch(
      workersRequest(owner, 1, undefined, placement({ types: [type] })),
    );
    expect([failures, launched.map(({ offer }) => offer)]).toEqual([[], [type]]);
    expect(launched[0]?.price?.microsPerHour).toBeGreaterThan(0);
    const instance = (await cloud.emulator.instances()).find(({ name }) => name === launched[0]?.id);
    expect(instance?.machineType).toBe(type);
  });

  it('requests the first one alone, although others are acceptable too', async () => {
    const types = ['n2-custom-6-20480', 'n4-custom-6-20480', 'n2-standard-8'];
    const { launched, failures } = await cloud.provider.launch(
      workersRequest(freshOwner(), 2, undefined, placement({ types })),
    );
    expect([failures, launched.map(({ offer }) => offer)]).toEqual([[], [types[0], types[0]]]);
  });
});
