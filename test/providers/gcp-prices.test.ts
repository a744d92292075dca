// The price of an instance on Compute Engine: machine, attached GPUs, disk and external address, by market; and a launch's
// entries in the cost ledger, against the emulated project's own ledger.
import { expect, it } from 'vitest';

import { totalCost } from '../../domain/cost/amount.ts';
import { unknownPrice } from '../../domain/cost/interval.ts';
import { launchPrice } from '../../providers/gcp/prices.ts';
import { createGcpProvider } from '../../providers/gcp/provider.ts';
import { dollars } from '../clouds/money.ts';
import { computeEngine } from '../support/clouds.ts';
import { startGcpCloud } from './gcp-cloud.ts';
import { freshOwner, launchRequestsOf } from './launch-requests.ts';

const place = { region: 'us-central1', assignPublicIps: true };

it('is of the region and market, with GPUs, disk and address', () => {
  const plain = launchPrice(place, { type: 'n1-standard-4', market: 'on-demand', diskGib: 73 });
  expect(plain).toMatchObject({ diskMicrosPerHour: 10_000, addressMicrosPerHour: 5_000 });
  expect(plain.source).toMatch(/^list price of us-central1 as of \d{4}-/);
  const gpus = launchPrice(place, { type: 'n1-standard-4+2xnvidia-tesla-t4', market: 'on-demand', diskGib: 73 });
  expect(gpus.microsPerHour - plain.microsPerHour).toBe(700_000);
  const spot = launchPrice({ ...place, assignPublicIps: false }, { type: 'n1-standard-4', market: 'spot', diskGib: 0 });
  expect(spot.microsPerHour).toBeLessThan(plain.microsPerHour);
  expect(spot).toMatchObject({ diskMicrosPerHour: 0, addressMicrosPerHour: 0 });
  expect(launchPrice(place, { type: 'x9-huge-1', market: 'spot', diskGib: 0 })).toMatchObject({
    ...{ microsPerHour: 0, addressMicrosPerHour: 2_500, source: unknownPrice.source },
  });
});

for (const market of ['on-demand', 'spot'] as const) {
  for (const assignPublicIps of [true, false]) {
    it(`of a launched instance, ${market}, ${assignPublicIps ? 'with' : 'without'} an address, is what is billed`, async () => {
      const cloud = await startGcpCloud(null);
      try {
        const settings = { ...cloud.options.settings, assignPublicIps };
        const provider = createGcpProvider({ ...cloud.options, settings });
        const { placement, workersRequest } = launchRequestsOf(computeEngine.types[0]);
        const request = workersRequest(freshOwner(), 2, undefined, placement({ market }));
        const { launched } = await provider.launch(request);
        expect(launched).toHaveLength(2);
        const { entries } = await cloud.emulator.ledger();
        const untilMs = Math.max(...entries.map(({ atMs }) => atMs)) + 7_200_000;
        const intervals = launched.map(({ id, zone, offer, price = unknownPrice }) => ({
          ...{ instance: id, role: 'worker' as const, type: offer, zone, market, ...price, diskMicrosPerHour: 0 },
          ...{ fromMs: entries.find((each) => each.id === id)?.atMs ?? 0, toMs: null },
        }));
        const cents = Math.round(dollars(computeEngine, entries, untilMs) * 100);
        expect(cents).toBeGreaterThan(0);
        expect(Math.round(totalCost(intervals, untilMs) / 10_000)).toBe(cents);
      } finally {
        await cloud.close();
      }
    });
  }
}
