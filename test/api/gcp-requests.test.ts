// Google Cloud names regions and machine types differently from AWS: the API takes both, and stores names that it can read again.
import { expect, it } from 'vitest';

import { attachedGpus, catalogueTypes, offersOf } from '../../providers/gcp/catalogue.ts';
import { gcpPriceOf } from '../../providers/gcp/custom-types.ts';
import { gcpManifest } from '../../providers/gcp/manifest.ts';
import { clusterSpec } from '../../schema/cluster-spec.ts';
import { jobSpec } from '../../schema/job-spec.ts';
import { testCloud } from './providers.ts';
import { createTestApi, type TestApi } from './support.ts';

const placeIn = (region: string, zone: string) => ({
  ...{ region, zones: [zone], queue: `provider/gcp/${region}`, hasGpuDriver: true },
  offers: async () =>
    catalogueTypes().flatMap((type) => offersOf({ region, zone, isListed: false }, type, Object.keys(attachedGpus))),
});
const places = [
  placeIn('us-central1', 'us-central1-a'),
  placeIn('northamerica-northeast1', 'northamerica-northeast1-a'),
];
const gcpApi = (): Promise<TestApi> =>
  createTestApi({ providers: [{ ...testCloud({ places }), manifest: gcpManifest }] });

async function storedSpec(api: TestApi): Promise<unknown> {
  const [key = ''] = await api.objects.list('specs', { limit: 10 });
  return JSON.parse(Buffer.from((await api.objects.get(key)) ?? new Uint8Array()).toString());
}

it.each(['us-central1', 'northamerica-northeast1'])('a request names the region %s', async (region) => {
  const api = await gcpApi();
  expect((await api.call('POST', '/v1/clusters', { body: { workers: 1, region } })).status).toBe(201);
  expect(clusterSpec.parse(await storedSpec(api)).settings.machines?.region).toBe(region);
  const listed = await api.call('GET', `/v1/instance-types?region=${region}&prefix=n2-standard-4&maxCpu=4`);
  expect(await listed.json()).toMatchObject({ items: [{ type: 'n2-standard-4', zones: [`${region}-a`] }] });
});

it('the default region of a workspace is one of Google Cloud', async () => {
  const api = await gcpApi();
  const token = await api.addToken('default', ['read', 'write', 'admin'], 'root');
  const body = { region: 'northamerica-northeast1' };
  expect((await api.call('PUT', '/v1/workspace/defaults', { body, token })).status).toBe(200);
  expect((await api.call('POST', '/v1/clusters', { body: { workers: 1 } })).status).toBe(201);
  expect(clusterSpec.parse(await storedSpec(api)).settings.machines?.region).toBe(body.region);
});

const t4 = /^n1-standard-\d+\+nvidia-tesla-t4$/;

it('a cluster has workers with an attached GPU, by the type of the GPU or by the name of the machine type', async () => {
  for (const asked of [{ workerGpuType: 'nvidia-tesla-t4' }, { workerVmTypes: ['n1-standard-4+nvidia-tesla-t4'] }]) {
    const api = await gcpApi();
    const body = { workers: 1, schedulerGpu: false, ...asked };
    expect((await api.call('POST', '/v1/clusters', { body })).status).toBe(201);
    expect(clusterSpec.parse(await storedSpec(api)).settings.machines?.workerTypes[0]).toMatch(t4);
  }
});

it('a job has such instances too', async () => {
  const api = await gcpApi();
  const body = { command: ['true'], vmTypes: ['n1-standard-4+nvidia-tesla-t4'], schedulerVmTypes: ['n2-standard-2'] };
  expect((await api.call('POST', '/v1/jobs', { body })).status).toBe(201);
  expect(jobSpec.parse(await storedSpec(api)).settings.machines?.workerTypes).toEqual(body.vmTypes);
});

it('a request by CPUs and memory that no predefined type meets gets custom types, with their price and vCPUs', async () => {
  const api = await gcpApi();
  const body = { workers: 2, workerCpu: 6, workerMemory: '20 GiB', schedulerVmTypes: ['n2-standard-2'] };
  const reply = await api.call('POST', '/v1/clusters', { body });
  expect(reply.status).toBe(201);
  const { number, pricePerHour } = await reply.json();
  const { machines, instanceVcpus } = clusterSpec.parse(await storedSpec(api)).settings;
  expect([machines?.workerTypes, instanceVcpus]).toEqual([['n4-custom-6-20480', 'n2-custom-6-20480'], 6]);
  const head = gcpPriceOf('us-central1', 'n2-standard-2', 'on-demand') ?? 0;
  const worker = gcpPriceOf('us-central1', 'n4-custom-6-20480', 'on-demand') ?? 0;
  expect(pricePerHour.firstChoice).toBeCloseTo(head + 2 * worker, 1);
  const why = await (await api.call('GET', `/v1/clusters/${number}/why`)).json();
  expect(JSON.stringify(why)).toContain('Workers: n4-custom-6-20480 (6 vCPU, 20.00 GiB, $');
  const odd = await api.call('POST', '/v1/clusters', { body: { ...body, workerCpu: 7 } });
  expect(await odd.json()).toMatchObject({
    error: {
      field: 'workerCpu',
      hint: expect.stringMatching(/^Near to it: n2d-custom-8-20480 .*; n4-custom-8-20480 .*; n2-custom-8-20480/),
    },
  });
});

it('a request names a custom machine type, and gets an error with the family of one that does not exist', async () => {
  const api = await gcpApi();
  const body = { workers: 1, workerVmTypes: ['n2-custom-6-20480'], schedulerVmTypes: ['n2-standard-2'] };
  expect((await api.call('POST', '/v1/clusters', { body })).status).toBe(201);
  const { machines, instanceVcpus } = clusterSpec.parse(await storedSpec(api)).settings;
  expect([machines?.workerTypes, instanceVcpus]).toEqual([body.workerVmTypes, 6]);
  const problemOf = async (type: string): Promise<unknown> =>
    (await api.call('POST', '/v1/clusters', { body: { ...body, workerVmTypes: [type] } })).json();
  expect(await problemOf('n2-custom-5-20480')).toMatchObject({
    error: { field: 'workerVmTypes', hint: expect.stringContaining('even, or 36 to 128 in steps of 4 vCPUs, not 5') },
  });
  expect(await problemOf('n2-standard-3')).toMatchObject({
    error: { hint: expect.stringMatching(/^Of this family there are: .*n2-standard-4/) },
  });
});
