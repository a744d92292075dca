// The live streams of the web application: complete answers, repeated after each change.
import { expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { createTestApi, linesOf } from './support.ts';

it('is one answer without `follow`, the same as that of the plain route', async () => {
  const api = await createTestApi();
  const cluster = await api.startCluster();
  const job = await api.submit({});
  for (const path of ['clusters', 'jobs', `clusters/${cluster}`, `jobs/${job}`]) {
    const plain = await (await api.call('GET', `/v1/${path}`)).json();
    expect(await linesOf(await api.call('GET', `/v1/live/${path}`))).toEqual([plain]);
  }
  expect((await api.call('GET', `/v1/live/clusters/${job + 1}`)).status).toBe(404);
});

it('is given again when the cluster has changed, not while it is as it was, and ends with it', async () => {
  const api = await createTestApi();
  const number = await api.startCluster();
  const lines = linesOf(await api.call('GET', `/v1/live/clusters/${number}?follow=true`));
  const state = api.workflows.clusters.get(number);
  if (state === undefined) throw new Error('no cluster');
  const asked = api.workflows.calls.length;
  api.clock.offsetMs += 1_001;
  await eventually(() => api.workflows.calls.length > asked);
  state.endedAtMs = api.now();
  api.clock.offsetMs += 1_001;
  expect(await lines).toMatchObject([
    { number, endedAt: null },
    { number, endedAt: expect.any(String) },
  ]);
});

it('is given again for its growing cost alone every 30 seconds, and for any other change at once', async () => {
  const api = await createTestApi();
  const number = await api.startCluster();
  const priced = { instance: 'i_1', role: 'worker', type: 'm7i.large', zone: 'a', market: 'on-demand' } as const;
  const price = { microsPerHour: 3_600_000_000, diskMicrosPerHour: 0, addressMicrosPerHour: 0, source: 'list price' };
  const row = await api.store.clusters.find('default', number);
  if (row?.view === undefined || row.view === null) throw new Error('no view');
  const { view } = row;
  await api.store.clusters.project({
    view: { ...view, costs: [{ ...priced, ...price, fromMs: api.now() - 3_600_000, toMs: null }] },
    version: row.viewVersion + 1,
    nowMs: api.now(),
  });
  const lines = linesOf(await api.call('GET', `/v1/live/clusters/${number}?follow=true`));
  const reads = async (): Promise<void> => {
    const before = api.workflows.calls.length;
    await eventually(() => api.workflows.calls.length > before + 1);
  };
  const state = api.workflows.clusters.get(number);
  if (state === undefined) throw new Error('no cluster');
  for (const stepMs of [5_000, 5_000, 25_000, 5_000]) {
    api.clock.offsetMs += stepMs;
    await reads();
  }
  state.endedAtMs = api.now();
  api.clock.offsetMs += 1_001;
  const given = (await lines) as { endedAt: string | null; cost: { dollars: number } }[];
  expect(given.map(({ endedAt }) => endedAt === null)).toEqual([true, true, false]);
  expect(given[1]?.cost.dollars).toBeGreaterThan((given[0]?.cost.dollars ?? 0) + 30);
});
