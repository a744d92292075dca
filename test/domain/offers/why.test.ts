// The explanation of the instances' types: the launched types, the first choice, and the next.
import { expect, it } from 'vitest';

import type { Offer } from '../../../domain/offers/offer.ts';
import { explainTypes, type TypeFacts } from '../../../domain/offers/why.ts';

const offer = (type: string, pricePerHour: number, market: Offer['market'] = 'on-demand'): Offer => ({
  ...{ type, pricePerHour, market, zone: 'a', vcpus: 2, memoryBytes: 8 * 2 ** 30, architecture: 'x86_64' },
  ...{ gpus: 0, gpuName: null },
});
const machines = {
  headTypes: ['small'],
  workerTypes: ['small', 'mid', 'big'],
  spotPolicy: 'on-demand',
  zones: ['a'],
} as const;
const launch = (type: string, microsPerHour: number, role: 'head' | 'worker' = 'worker') =>
  ({ role, type, microsPerHour, zone: 'a', market: 'on-demand', fromMs: 5 }) as const;

const texts = (
  change: Partial<TypeFacts> & { policy?: 'spot' | 'spot_with_fallback'; workerTypes?: string[] } = {},
) => {
  const { policy = 'on-demand' as const, workerTypes = [...machines.workerTypes], ...facts } = change;
  const own = { ...machines, headTypes: [...machines.headTypes], zones: ['a'], workerTypes, spotPolicy: policy };
  const offers = [offer('small', 0.1), offer('mid', 0.2), offer('big', 0.4)];
  return explainTypes({ provider: 'cloud', machines: own, offers, launched: [], events: [], ...facts }).map(
    ({ text }) => text,
  );
};

it('the cheapest that fits, with the next ones', () => {
  expect(texts()).toEqual([
    'The head instance: small (2 vCPU, 8.00 GiB, $0.1 an hour) is the only type that fits. No other type may be used.',
    'Workers: small (2 vCPU, 8.00 GiB, $0.1 an hour) is the cheapest of 3 types that fit. Next would be: mid (2 vCPU, 8.00 GiB, $0.2 an hour); big (2 vCPU, 8.00 GiB, $0.4 an hour).',
  ]);
});

it('types in an order of their own, and markets', () => {
  expect(texts({ workerTypes: ['big', 'small'] })[1]).toContain('is the first of 2 types in the order asked for.');
  const spot = 'On the spot market the cloud picks among them by price and spare capacity.';
  expect(texts({ policy: 'spot' })[1]?.endsWith(spot)).toBe(true);
  expect(
    texts({ policy: 'spot_with_fallback' })[1]?.endsWith(`${spot} When it has none, they are launched on demand.`),
  ).toBe(true);
});

it('what was launched, at which price, and instead of what', () => {
  const launched = [
    launch('small', 100_000, 'head'),
    launch('mid', 200_000),
    launch('mid', 200_000),
    launch('small', 100_000),
  ];
  expect(texts({ launched }).filter((text) => text.includes('launched'))).toEqual([
    '1 head instance of small was launched on-demand in a for $0.1 an hour.',
    '2 worker instances of mid were launched on-demand in a for $0.2 an hour each instead of the first choice, small, which the cloud did not give.',
    '1 worker instance of small was launched on-demand in a for $0.1 an hour.',
  ]);
});

it('of an ended cluster without a specification, what was launched; without prices, the order', () => {
  expect(texts({ machines: null, launched: [launch('mid', 200_000)] })).toEqual([
    '1 worker instance of mid was launched on-demand in a for $0.2 an hour.',
  ]);
  expect(texts({ offers: [] })[1]).toBe('Workers may be small, mid, big, in this order; their prices are unknown now.');
});

it('on one machine there is no choice', () => {
  expect(texts({ machines: null, provider: 'local' })).toEqual([
    'There is no choice of instance types: the provider local runs everything on one machine.',
  ]);
});

it('names the events of the launches of each group', () => {
  const launched = [launch('small', 100_000), { ...launch('small', 100_000), fromMs: 8 }, launch('big', 400_000)];
  const event = (seq: number, atMs: number, code = 'LAUNCHED') => ({ seq, atMs, code, text: 'launched 1 instance' });
  const events = [event(2, 5), event(3, 5, 'SCALE'), event(4, 8), event(6, 9)];
  const facts = explainTypes({ provider: 'cloud', machines: null, offers: [], launched, events }).map((sentence) =>
    sentence.facts.map(({ name, events: numbers }) => [name, numbers]),
  );
  const each = (numbers: number[]) => ['instances', 'type', 'dollars per hour'].map((name) => [name, numbers]);
  expect(facts).toEqual([each([2, 4]), each([2])]);
});
