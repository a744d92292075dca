// Google Cloud names regions and machine types differently from AWS: the API takes both, and stores names that it can read again.
import { expect, it } from 'vitest';

import { attachedGpus, catalogueTypes, offersOf } from '../../providers/gcp/catalogue.ts';
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
