// Past states of clusters and jobs over HTTP: refused times, private objects, and objects that have not started.
import { expect, it } from 'vitest';

import { recordChanges } from '../../domain/cluster/changes.ts';
import { createTestApi, launch } from './support.ts';

it('refuses times before the start, times to come, and what is no time', async () => {
  const api = await createTestApi();
  const [cluster, job] = [await api.startCluster({ name: 'blue', workers: 1 }), await api.submit({ ntasks: 2 })];
  for (const path of [`clusters/${cluster}`, `jobs/${job}`]) {
    for (const time of ['2001-01-01T00:00:00Z', '2999-01-01T00:00:00Z', 'yesterday', '2026-11-23']) {
      const reply = await api.call('GET', `/v1/${path}/at?time=${time}`);
      expect([time, reply.status, (await reply.json()).error.field]).toEqual([time, 422, 'time']);
    }
  }
  expect((await api.call('GET', '/v1/clusters/999/at')).status).toBe(404);
});

it('says now without a time, also before anything was recorded', async () => {
  const api = await createTestApi();
  const number = await api.startCluster({ name: 'blue', workers: 1 });
  const read = async () => (await api.call('GET', `/v1/clusters/${number}/at`)).json();
  expect(await read()).toMatchObject({ number, name: 'blue', status: 'pending', target: 2, instances: [] });
  const state = api.workflows.clusters.get(number);
  if (state === undefined) throw new Error('no cluster');
  launch(api, number, 'i_1');
  recordChanges(state, api.now());
  // Its instance has no entry in the ledger yet, and therefore no type.
  expect(await read()).toMatchObject({ status: 'pending', target: 2, instances: [], events: [{ code: 'CREATED' }] });
});

it('is its creator’s alone of a private one', async () => {
  const api = await createTestApi();
  const zoe = await api.addToken('default', ['read', 'write'], 'zoe', 'member');
  const cluster = await api.startCluster({ privateToCreator: true });
  const job = await api.submit({ privateToCreator: true });
  for (const path of [`clusters/${cluster}`, `jobs/${job}`]) {
    expect((await api.call('GET', `/v1/${path}/at`, { token: zoe })).status).toBe(403);
    expect((await api.call('GET', `/v1/${path}/at`)).status).toBe(200);
  }
});
