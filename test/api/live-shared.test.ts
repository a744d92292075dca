// Many pages that watch the same objects: one read a second for all of them, without objects private to others.
import { expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { createTestApi, type TestApi } from './support.ts';

/** Collects `lines` as they arrive. */
async function watch(api: TestApi, token: string, path: string) {
  const left = new AbortController();
  const response = await api.call('GET', path, { token, signal: left.signal });
  const lines: string[] = [];
  const read = async (): Promise<void> => {
    let rest = '';
    for await (const bytes of response.body ?? []) {
      const parts = (rest + Buffer.from(bytes).toString()).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts.filter((part) => part !== ''));
    }
  };
  const ended = read().catch(() => undefined);
  return { status: response.status, lines, stop: () => (left.abort(), ended) };
}

it('reads a list once for all who watch it, and gives each of them every change', async () => {
  const api = await createTestApi();
  const names = Array.from({ length: 5 }, (_, at) => `user-${at}`);
  const tokens = await Promise.all(names.map((name) => api.addToken('default', ['read'], name, 'read-only')));
  await api.submit({ name: 'first' });
  let reads = 0;
  const list = api.deps.store.jobs.list.bind(api.deps.store.jobs);
  api.deps.store.jobs.list = (query) => {
    reads += 1;
    return list(query);
  };
  const path = '/v1/live/jobs?follow=true';
  const pages = await Promise.all([...tokens, ...tokens, ...tokens, ...tokens].map((token) => watch(api, token, path)));
  await eventually(() => pages.every(({ lines }) => lines.length === 1));
  expect(reads).toBeLessThanOrEqual(2);
  await api.submit({ name: 'second' });
  await eventually(() => pages.every(({ lines }) => lines.at(-1)?.includes('second') === true));
  expect(reads).toBeLessThanOrEqual(6);
  expect(new Set(pages.map(({ lines }) => lines.at(-1))).size).toBe(1);
  await Promise.all(pages.map(({ stop }) => stop()));
});

it('shows what is private to its creator to no other page, in any order', async () => {
  const api = await createTestApi();
  const bob = await api.addToken('default', ['read', 'write', 'admin'], 'bob', 'admin');
  const number = await api.submit({ command: ['echo', 'canary'], privateToCreator: true });
  for (const path of [
    '/v1/live/jobs?follow=true',
    `/v1/live/jobs/${number}?follow=true`,
    '/v1/live/jobs?follow=true&q=canary',
  ]) {
    for (const order of [
      [api.token, bob],
      [bob, api.token],
    ]) {
      const pages = await Promise.all(order.map((token) => watch(api, token, path)));
      await eventually(() => pages.every(({ lines }) => lines.length === 1));
      api.clock.offsetMs += 1_001;
      const [own, other] = order[0] === api.token ? pages : pages.toReversed();
      expect(own?.lines.join()).toContain('canary');
      expect(other?.lines.join()).not.toContain('canary');
      await Promise.all(pages.map(({ stop }) => stop()));
    }
  }
});

it('gives nothing of another workspace, and nothing to a token that may not read', async () => {
  const api = await createTestApi();
  await api.submit({ name: 'ours' });
  const other = await api.addToken('other');
  const [own, foreign] = [
    await watch(api, api.token, '/v1/live/jobs?follow=true'),
    await watch(api, other, '/v1/live/jobs?follow=true'),
  ];
  await eventually(() => own.lines.length === 1 && foreign.lines.length === 1);
  expect([own.lines[0]?.includes('ours'), foreign.lines[0]?.includes('ours')]).toEqual([true, false]);
  await Promise.all([own.stop(), foreign.stop()]);
  const operator = await api.addToken('default', ['operator'], 'root', 'admin');
  expect((await api.call('GET', '/v1/live/jobs?follow=true', { token: operator })).status).toBe(403);
});
