// Several Dask workers on an instance, and one beside the scheduler, as the API seals them for agents.
import { expect, it } from 'vitest';

import { createTestApi } from './support.ts';

it('counts every Dask worker that shares the machine', async () => {
  const api = await createTestApi();
  const shared = { workers: 2, workersPerInstance: 3, extraWorkerOnScheduler: true };
  await api.call('POST', '/v1/clusters', { body: shared });
  const sealed = api.objects.keys().filter((key) => /^(specs|vault)\//.test(key));
  const bundle = JSON.parse(Buffer.from((await api.vault.open(sealed.at(-1) ?? '')) ?? []).toString());
  expect(bundle).toMatchObject({ workersPerMachine: 7, workersPerInstance: 3, extraWorkerOnScheduler: true });
  const refused = await api.call('POST', '/v1/clusters', { body: { workersPerInstance: 0 } });
  expect((await refused.json()).error).toMatchObject({ code: 'VALIDATION', field: 'workersPerInstance' });
});
