// Plans over HTTP: the launches and their price, without any write or admission.
import { expect, it } from 'vitest';

import type { Plan } from '../../schema/plans.ts';
import { onDemandPrice } from '../../providers/aws/catalogue.ts';
import { createAwsReader } from '../../providers/aws/reader.ts';
import { cloudApi } from './cloud.ts';
import { onDemandPrices } from './providers.ts';
import { createTestApi, type TestApi } from './support.ts';

const price = (type: string): number => onDemandPrice('us-east-1', type) ?? Number.NaN;

async function planned(api: TestApi, path: string, body: object) {
  const before = await api.objects.list('', { limit: 100 });
  const reply = await api.call('POST', `/v1/plans/${path}`, { body });
  expect(await api.objects.list('', { limit: 100 })).toEqual(before);
  expect(await (await api.call('GET', '/v1/clusters')).json()).toEqual({ items: [], next: null });
  expect(reply.status).toBe(200);
  const found: Plan = await reply.json();
  return found;
}

it('a cluster: types, zones, markets and prices of head and workers, and of when the prices are', async () => {
  const body = {
    ...{ workers: 3, workerVmTypes: ['m6i.large', 'm6i.xlarge'], schedulerVmTypes: ['m5.large'] },
    ...{ spotPolicy: 'spot_with_fallback', zone: 'us-east-1b', workerDiskSize: '100 GiB' },
  };
  const found = await planned(await cloudApi(), 'clusters', body);
  expect(found).toMatchObject({ provider: 'aws', zones: ['us-east-1b'], allowCrossZone: false, diskGib: 100 });
  expect(found.head).toMatchObject({ count: 1, markets: ['on-demand'], types: [{ type: 'm5.large' }] });
  expect(found.workers).toMatchObject({ count: 3, markets: ['spot', 'on-demand'] });
  expect(found.workers.types).toMatchObject([
    { type: 'm6i.large', vcpus: 2, pricePerHour: price('m6i.large'), zones: ['us-east-1b'] },
    { type: 'm6i.xlarge', vcpus: 4, spotPricePerHour: price('m6i.xlarge') / 3 },
  ]);
  expect(found.pricePerHour.firstChoice).toBeCloseTo(price('m5.large') + 0.005 + price('m6i.large') + 3 * 0.0025, 3);
  expect(found.pricePerHour.max).toBeCloseTo(price('m5.large') + 3 * price('m6i.xlarge') + 4 * 0.005, 3);
  expect(found.prices).toMatchObject([{ market: 'on-demand', ...onDemandPrices }, { market: 'spot' }]);
});

it('each region has prices of its own, with their source and date; a region without any says so', () => {
  const readingOf = (region: string) =>
    createAwsReader({ region, subnets: [], gpuImage: null, assignPublicIps: true, workerSubnets: null }, Date.now);
  expect(readingOf('us-east-1').onDemandPrices?.source).toBe("Karpenter's table of AWS's price list");
  expect(readingOf('eu-west-1').onDemandPrices?.source).toMatch(/^derived from the prices of us-east-1/);
  expect(readingOf('eu-west-9').onDemandPrices).toBeNull();
});

it('a job: what the header of its script says counts, and one instance is the head', async () => {
  const script = Buffer.from('#!/bin/sh\n# ROPEWALK vm-type c6i.large\n# ROPEWALK ntasks 5\ntrue\n');
  const files = [{ path: 'run.sh', content: script.toString('base64') }];
  const found = await planned(await cloudApi(), 'jobs', { command: ['sh', 'run.sh'], files });
  expect(found).toMatchObject({ head: { count: 1 }, workers: { count: 4, types: [{ type: 'c6i.large' }] } });
  expect(found.pricePerHour.firstChoice).toBeCloseTo(5 * (price('c6i.large') + 0.005), 3);
  expect(found.pricePerHour.max).toBe(found.pricePerHour.firstChoice);
});

it('on this machine costs nothing, and is warned of like the real thing', async () => {
  const api = await createTestApi({ cores: 2 });
  const found = await planned(api, 'clusters', { workers: 5, workerCpu: 2 });
  expect(found).toMatchObject({ provider: 'local', pricePerHour: { firstChoice: 0, max: 0 }, diskGib: null });
  expect(found).toMatchObject({ workers: { count: 5, types: [{ type: 'local' }] }, prices: [] });
  expect(found.warnings).toEqual([expect.stringContaining('no effect'), expect.stringContaining('share its 2 cores')]);
});

it('a plan is refused like the request itself, naming the field, also for users without the right to create', async () => {
  const api = await cloudApi();
  const token = await api.addToken('default', ['read']);
  const reply = await api.call('POST', '/v1/plans/clusters', { body: { workerCpu: 1, workerMemory: '32 GiB' } });
  expect([reply.status, (await reply.json()).error]).toMatchObject([422, { field: 'workerCpu' }]);
  const denied = await api.call('POST', '/v1/plans/jobs', { body: { command: ['true'] }, token });
  expect([denied.status, (await denied.json()).error.code]).toEqual([403, 'FORBIDDEN']);
});

it('creating says the price on a cloud, for what is new alone', async () => {
  const api = await cloudApi();
  const body = { workers: 3, workerVmTypes: ['m6i.large'], schedulerVmTypes: ['m5.large'], name: 'blue' };
  const created = await (await api.call('POST', '/v1/clusters', { body })).json();
  expect(created.pricePerHour.max).toBeCloseTo(price('m5.large') + 3 * price('m6i.large') + 4 * 0.005, 3);
  const again = await (await api.call('POST', '/v1/clusters', { body })).json();
  expect([again.existing, again.pricePerHour]).toEqual([true, undefined]);
  const job = await (
    await api.call('POST', '/v1/jobs', { body: { command: ['true'], ntasks: 2, vmTypes: ['m6i.large'] } })
  ).json();
  expect(job.pricePerHour.firstChoice).toBeCloseTo(2 * (price('m6i.large') + 0.005), 3);
  const localApi = await createTestApi();
  const local = await (await localApi.call('POST', '/v1/clusters', { body: { workers: 1 } })).json();
  expect(local.pricePerHour).toBeUndefined();
});
