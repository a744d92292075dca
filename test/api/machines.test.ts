// Machines over HTTP: what is on offer, what a request for a cluster on EC2 becomes, and what is refused before anything
// is admitted.
import { describe, expect, it } from 'vitest';

import { clusterSpec } from '../../schema/cluster-spec.ts';
import { jobSpec } from '../../schema/job-spec.ts';
import { catalogueOffers } from '../../providers/aws/catalogue.ts';
import { createTestApi } from './support.ts';

const zones = ['us-east-1a', 'us-east-1b'];
const onDemand = catalogueOffers(zones);
const offers = [
  ...onDemand,
  ...onDemand.map((offer) => ({ ...offer, market: 'spot' as const, pricePerHour: offer.pricePerHour / 3 })),
];
const cloudApi = (preferred: 'local' | 'aws' = 'aws') =>
  createTestApi({
    clouds: { preferred, aws: { offers: () => Promise.resolve(offers), zones, queue: 'provider/aws' } },
  });

async function specOf(api: ReturnType<typeof createTestApi>, kind: 'cluster' | 'job') {
  const keys = await api.objects.list('specs', { limit: 10 });
  const key = keys.at(-1) ?? '';
  const text = Buffer.from((await api.objects.get(key)) ?? new Uint8Array()).toString();
  return kind === 'cluster' ? clusterSpec.parse(JSON.parse(text)).settings : jobSpec.parse(JSON.parse(text)).settings;
}

describe('instance types', () => {
  it('are listed from cheap to dear, with both prices, as filtered', async () => {
    const api = cloudApi();
    const reply = await api.call(
      'GET',
      '/v1/instance-types?minCpu=4&maxCpu=4&minMemory=16%20GiB&maxMemory=16%20GiB&prefix=m',
    );
    expect(reply.status).toBe(200);
    const { items } = await reply.json();
    expect(items.length).toBeGreaterThan(3);
    for (const item of items)
      expect(item).toMatchObject({ vcpus: 4, memoryBytes: 16 * 2 ** 30, zones, provider: 'aws' });
    const prices: number[] = items.map((item: { pricePerHour: number }) => item.pricePerHour);
    expect(prices).toEqual(prices.toSorted((a, b) => a - b));
    expect(items[0].spotPricePerHour).toBeCloseTo(items[0].pricePerHour / 3);
  });

  it('are this machine where there is no cloud, and an unknown cloud is named', async () => {
    const api = createTestApi();
    const { items } = await (await api.call('GET', '/v1/instance-types')).json();
    expect(items).toMatchObject([{ type: 'local', provider: 'local', pricePerHour: 0 }]);
    const refused = await api.call('GET', '/v1/instance-types?provider=aws');
    expect([refused.status, (await refused.json()).error.field]).toEqual([422, 'provider']);
  });
});

describe('a cluster on EC2', () => {
  it('carries the machines that were chosen, and counts their vCPUs', async () => {
    const api = cloudApi();
    const body = {
      workers: 3,
      workerCpu: [2, 4],
      workerMemory: '16 GiB',
      spotPolicy: 'spot_with_fallback',
      diskSize: '100 GiB',
    };
    expect((await api.call('POST', '/v1/clusters', { body })).status).toBe(201);
    const settings = await specOf(api, 'cluster');
    expect(settings).toMatchObject({ provider: 'aws', providerQueue: 'provider/aws', instances: 4 });
    expect(settings.machines).toMatchObject({
      spotPolicy: 'spot_with_fallback',
      zones,
      allowCrossZone: false,
      diskGib: 100,
    });
    expect(settings.machines?.headTypes).toEqual(expect.arrayContaining(['m6i.xlarge']));
    expect(settings.instanceVcpus).toBe(4);
  });

  it.each<[object, string]>([
    [{ workerCpu: 1, workerMemory: '32 GiB' }, 'workerCpu'],
    [{ workerVmTypes: ['m6i.huge'] }, 'workerVmTypes'],
    [{ workerVmTypes: ['m6i.large'], workerCpu: 2 }, 'workerVmTypes'],
    [{ zone: 'eu-west-1a' }, 'zone'],
    [{ diskSize: '1 GiB' }, 'diskSize'],
    [{ workerGpu: 2 }, 'workerGpu'],
    [{ spotPolicy: 'cheap' }, 'spotPolicy'],
  ])('%j is refused, naming %s, and nothing is left behind', async (body, field) => {
    const api = cloudApi();
    const before = await api.objects.list('', { limit: 100 });
    const reply = await api.call('POST', '/v1/clusters', { body: { workers: 1, ...body } });
    expect([reply.status, (await reply.json()).error.field]).toEqual([422, field]);
    expect(await api.objects.list('', { limit: 100 })).toEqual(before);
  });

  it('is refused by name where there is no account, and warned of where machines make no difference', async () => {
    const api = createTestApi();
    const refused = await api.call('POST', '/v1/clusters', { body: { workers: 1, provider: 'aws' } });
    expect([refused.status, (await refused.json()).error.field]).toEqual([422, 'provider']);
    const made = await api.call('POST', '/v1/clusters', { body: { workers: 1, workerCpu: 2 } });
    expect((await made.json()).warnings).toEqual([expect.stringContaining('has no effect')]);
  });
});

describe('a job on EC2', () => {
  it('reads its machines from the request, from options and from the header of its script, in this order', async () => {
    const api = cloudApi();
    const script = Buffer.from(
      '#!/bin/sh\n# ROPEWALK vm-type c6i.large\n# ROPEWALK spot-policy spot\n# ROPEWALK ntasks 50\ntrue\n',
    );
    const body = {
      command: ['sh', 'run.sh'],
      files: [{ path: 'run.sh', content: script.toString('base64') }],
      options: { 'vm-type': 'm6i.large' },
      vmTypes: ['r6i.large'],
    };
    const reply = await api.call('POST', '/v1/jobs', { body });
    expect([reply.status, (await reply.json()).warnings]).toEqual([201, []]);
    const settings = await specOf(api, 'job');
    // More than this machine would run at once.
    expect(settings).toMatchObject({ provider: 'aws', instances: 50 });
    expect(settings.machines).toMatchObject({
      workerTypes: ['r6i.large'],
      headTypes: ['r6i.large'],
      spotPolicy: 'spot',
    });
  });
});
