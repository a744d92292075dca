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

it('gives a worker its share of the machine by the most that the range allows', async () => {
  const api = await createTestApi();
  const bundles = async (workers: unknown) => {
    const before = new Set(api.objects.keys());
    await api.call('POST', '/v1/clusters', { body: { workers } });
    const sealed = api.objects.keys().filter((key) => /^(specs|vault)\//.test(key) && !before.has(key));
    return JSON.parse(Buffer.from((await api.vault.open(sealed.at(-1) ?? '')) ?? []).toString());
  };
  expect(await bundles([1, 5])).toMatchObject({ workersPerMachine: 5, shareMachine: true });
  expect(await bundles(3)).toMatchObject({ workersPerMachine: 3, shareMachine: true });
});

it('has the default range end at the cores of the machine, at both ends', async () => {
  const api = await createTestApi({ cores: 2 });
  const created = await api.call('POST', '/v1/clusters', { body: {} });
  const { number } = await created.json();
  const { dask } = await (await api.call('GET', `/v1/clusters/${number}`)).json();
  expect(dask).toMatchObject({ workersWanted: 2, adaptive: { minimum: 2, maximum: 2 } });
});

it.each([
  [{ workerMemory: 'lots' }, 'workerMemory'],
  [{ workerMemory: ['4 GiB', '2 GiB'] }, 'workerMemory'],
  [{ schedulerCpu: [8, 2] }, 'schedulerCpu'],
  [{ workerDiskSize: 'big' }, 'workerDiskSize'],
  [{ schedulerOptions: { idle_timeout: '5m' } }, 'schedulerOptions.idle_timeout'],
])('refuses on one machine what no provider could read: %j', async (body, field) => {
  const api = await createTestApi();
  const reply = await api.call('POST', '/v1/clusters', { body });
  expect([reply.status, (await reply.json()).error]).toMatchObject([422, { code: 'VALIDATION', field }]);
  expect(await api.usage()).toMatchObject({ running: 0 });
});
