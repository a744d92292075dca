// The API refuses requests that a cloud cannot serve before anything is launched, and names the field.
import { expect, it } from 'vitest';

import type { Offer } from '../../domain/offers/offer.ts';
import { gcpManifest } from '../../providers/gcp/manifest.ts';
import { testCloud } from './providers.ts';
import { createTestApi } from './support.ts';

const zone = 'us-central1-a';
const offer: Offer = {
  ...{ type: 'n2-standard-2', zone, market: 'on-demand', vcpus: 2, memoryBytes: 8 * 2 ** 30 },
  ...{ architecture: 'x86_64', gpus: 0, gpuName: null, pricePerHour: 0.1 },
};
const named = { workers: 1, workerVmTypes: [offer.type], schedulerVmTypes: [offer.type] };
const place = { region: 'us-central1', zones: [zone], queue: 'provider/gcp/us-central1', offers: async () => [offer] };

it('names tags that are no labels, and a disk throughput that the types do not have', async () => {
  const api = await createTestApi({ providers: [{ ...testCloud({ places: [place] }), manifest: gcpManifest }] });
  const plan = async (body: object): Promise<unknown> =>
    (await api.call('POST', '/v1/plans/clusters', { body: { ...named, ...body } })).json();
  expect(await plan({ tags: { team: 'red' } })).toMatchObject({ region: 'us-central1' });
  expect(await plan({ tags: { Team: 'Red' } })).toMatchObject({ error: { code: 'VALIDATION', field: 'tags' } });
  expect(await plan({ workerDiskThroughput: 300 })).toMatchObject({
    error: { code: 'VALIDATION', field: 'workerDiskThroughput' },
  });
});
