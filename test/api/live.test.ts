// What the web application follows: whole answers, again whenever they have changed.
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
