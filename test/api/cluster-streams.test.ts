import { describe, expect, it } from 'vitest';

import { forgetHistory } from '../../domain/cluster/history.ts';
import { addEvent } from '../../domain/cluster/notes.ts';
import { recordChanges } from '../../domain/cluster/changes.ts';
import type { LogQuery } from '../../providers/provider.ts';
import { aClusterView } from '../store/fixtures.ts';
import { eventually } from '../support/eventually.ts';
import { testCloud } from './providers.ts';
import { createReplica, createTestApi, linesOf, type TestApi } from './support.ts';

function finish(api: TestApi, number: number): void {
  const state = api.workflows.clusters.get(number);
  if (state !== undefined) state.endedAtMs = api.now();
  api.clock.offsetMs += 1_001;
}

describe('the logs of a cluster', () => {
  it('are the lines of all its instances, or of one, since a time', async () => {
    const api = await createTestApi();
    const number = await api.startCluster();
    const queries: LogQuery[] = [];
    api.logs.read = async function* (query) {
      queries.push(query);
      yield { atMs: 0, instance: 'i_a', task: null, attempt: null, stream: 'stderr', text: 'listening' };
    };
    const path = `/v1/clusters/${number}/logs`;
    const response = await api.call('GET', `${path}?instance=i_a&since=2026-01-01T00:00:00Z`);
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    expect(await linesOf(response)).toEqual([
      {
        at: '1970-01-01T00:00:00.000Z',
        instance: 'i_a',
        task: null,
        attempt: null,
        stream: 'stderr',
        text: 'listening',
      },
    ]);
    await linesOf(await api.call('GET', path));
    expect(queries).toMatchObject([
      {
        owner: { workspace: 'default', cluster: number },
        instance: 'i_a',
        sinceMs: Date.UTC(2026, 0, 1),
        follow: false,
      },
      { owner: { workspace: 'default', cluster: number }, follow: false },
    ]);
    expect(queries[1]).not.toHaveProperty('instance');
    expect((await api.call('GET', `${path}?follow=perhaps`)).status).toBe(422);
    expect((await api.call('GET', path, { token: await api.addToken('other') })).status).toBe(404);
  });

  it('followed, end once the cluster has ended and no more lines come', async () => {
    const api = await createTestApi();
    const number = await api.startCluster();
    api.logs.read = async function* ({ signal }) {
      yield { atMs: 0, instance: 'i_a', task: null, attempt: null, stream: 'stdout', text: 'last' };
      await new Promise((done) => signal?.addEventListener('abort', done));
    };
    const response = await api.call('GET', `/v1/clusters/${number}/logs?follow=true`);
    finish(api, number);
    expect((await linesOf(response)).map(({ text }) => text)).toEqual(['last']);
  });

  it('hold no stream of their reader for a HEAD request', async () => {
    const api = await createTestApi({ quotas: { openStreams: 1 } });
    const number = await api.startCluster();
    for (const path of [`/v1/clusters/${number}/logs`, `/v1/clusters/${number}/events`]) {
      for (const query of ['', '?follow=true']) {
        const response = await api.call('HEAD', `${path}${query}`);
        expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
      }
    }
    expect((await api.call('HEAD', `/v1/clusters/${number + 1}/logs`)).status).toBe(404);
    expect((await api.call('GET', `/v1/clusters/${number}/logs`)).status).toBe(200);
  });

  it('that this replica cannot read are refused with the reason, and hold no stream', async () => {
    const first = await createTestApi();
    const number = await first.startCluster();
    // Another replica, whose operator has removed the provider.
    const api = await createReplica(first, { providers: [testCloud({})], quotas: { openStreams: 1 } });
    for (const query of ['', '?follow=true']) {
      const response = await api.call('GET', `/v1/clusters/${number}/logs${query}`);
      expect(response.status).toBe(404);
      expect((await response.json()).error.message).toContain('has no access to its logs any more');
    }
  });

  it('whose reader leaves are not logged as cut short', async () => {
    const api = await createTestApi();
    const number = await api.startCluster();
    api.logs.read = async function* ({ signal }) {
      yield { atMs: 0, instance: 'i_a', task: null, attempt: null, stream: 'stdout', text: 'first' };
      await new Promise((done) => signal?.addEventListener('abort', done));
    };
    const response = await api.call('GET', `/v1/clusters/${number}/logs?follow=true`);
    const reader = response.body?.getReader();
    await reader?.read();
    const next = reader?.read();
    await reader?.cancel();
    expect(await next).toMatchObject({ done: true });
    expect(api.logged.filter((line) => line.includes('cut short'))).toEqual([]);
  });
});

describe('the events of a cluster', () => {
  it('are what its view holds, since a time', async () => {
    const api = await createTestApi();
    const number = await api.startCluster();
    await api.call('POST', `/v1/clusters/${number}/scale`, { body: { workers: 7 } });
    const events = await linesOf(await api.call('GET', `/v1/clusters/${number}/events`));
    expect(events).toEqual([
      { seq: 1, at: expect.any(String), code: 'CREATED', text: 'created by ada', by: 'ada' },
      {
        seq: 2,
        at: expect.any(String),
        by: 'ada',
        code: 'SCALE',
        text: 'asked for 8 instances; adaptive scaling is off',
      },
    ]);
    const later = new Date(api.now() + 60_000).toISOString();
    expect(await linesOf(await api.call('GET', `/v1/clusters/${number}/events?since=${later}`))).toEqual([]);
    const stranger = { token: await api.addToken('other') };
    expect((await api.call('GET', `/v1/clusters/${number}/events`, stranger)).status).toBe(404);
  });

  it('are all that there were, however many', async () => {
    const api = await createTestApi();
    const number = await api.startCluster();
    const state = api.workflows.clusters.get(number);
    if (state === undefined) throw new Error('no workflow');
    const codes = Array.from({ length: 130 }, (_, index) => `EVENT_${index}`);
    // Two a millisecond: the oldest of the view shares its time with one before it.
    codes.forEach((code, index) => addEvent(state, api.now() + Math.floor((index + 1) / 2), code, 'something'));
    api.clock.offsetMs += 2_000;
    const events = await linesOf(await api.call('GET', `/v1/clusters/${number}/events`));
    expect(events.map(({ code }) => code)).toEqual(['CREATED', ...codes]);
  });

  it('are read in pages by their numbers, from the database and from the view', async () => {
    const api = await createTestApi();
    const number = await api.startCluster();
    const state = api.workflows.clusters.get(number);
    if (state === undefined) throw new Error('no workflow');
    const add = (count: number) => {
      // Other changes have numbers too.
      recordChanges(state, api.now());
      for (let nth = 0; nth < count; nth += 1) addEvent(state, api.now(), 'NOTE', 'something');
    };
    add(70);
    const view = { ...aClusterView('default', number), history: [...state.history.held] };
    await api.deps.store.clusters.project({ view, version: 1, nowMs: api.now() });
    forgetHistory(state.history, view.history);
    add(100);
    api.clock.offsetMs += 2_000;
    const path = `/v1/clusters/${number}/events`;
    const all = await linesOf(await api.call('GET', path));
    expect(all).toHaveLength(171);
    const read = [];
    for (let after = 0; ; after = read.at(-1)?.seq) {
      const page = await linesOf(await api.call('GET', `${path}?after=${after}&limit=40`));
      read.push(...page);
      if (page.length < 40) break;
    }
    expect(read).toEqual(all);
    expect(await linesOf(await api.call('GET', `${path}?after=${all.at(-1)?.seq}`))).toEqual([]);
    const followed = await linesOf(await api.call('GET', `${path}?after=${all[5]?.seq}&limit=2&follow=true`));
    expect(followed).toEqual(all.slice(6, 8));
    for (const query of ['after=-1', 'after=x', 'limit=0', 'limit=1e2']) {
      expect([query, (await api.call('GET', `${path}?${query}`)).status]).toEqual([query, 422]);
    }
  });

  it('followed, come as they happen, through an outage, each once, and end with the cluster', async () => {
    const api = await createTestApi();
    const number = await api.startCluster();
    await api.call('POST', `/v1/clusters/${number}/scale`, { body: { workers: 7 } });
    const response = await api.call('GET', `/v1/clusters/${number}/events?follow=true`);
    const reader = response.body?.getReader();
    const next = async () => JSON.parse(new TextDecoder().decode((await reader?.read())?.value)).code;
    expect(await next()).toBe('CREATED');
    expect(await next()).toBe('SCALE');
    api.workflows.control.isUnavailable = true;
    const second = next();
    const asked = api.workflows.calls.length;
    await eventually(() => api.workflows.calls.length > asked);
    api.workflows.control.isUnavailable = false;
    await api.call('POST', `/v1/clusters/${number}/stop`);
    expect(await second).toBe('STOPPED');
    finish(api, number);
    expect(await reader?.read()).toMatchObject({ done: true });
  });

  it('followed, are cut, not ended, when the API shuts down', async () => {
    const api = await createTestApi();
    const number = await api.startCluster();
    const response = await api.call('GET', `/v1/clusters/${number}/events?follow=true`);
    const text = response.text().catch(String);
    api.stopping.abort();
    expect(await text).toContain('shutting down');
  });
});
