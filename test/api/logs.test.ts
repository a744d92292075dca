import { describe, expect, it } from 'vitest';

import { RopewalkError } from '../../domain/errors.ts';
import { cancelJob } from '../../domain/job/events.ts';
import type { LogLine, LogQuery } from '../../providers/provider.ts';
import { createTestApi, linesOf, type TestApi } from './support.ts';

const line = (text: string, task = 0): LogLine => ({
  atMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  instance: 'i_aaaaaaaa',
  task,
  attempt: 1,
  stream: 'stdout',
  text,
});

describe('logs', () => {
  it('are one JSON object a line, with the text exactly as it was printed', async () => {
    const api = await createTestApi();
    const number = await api.submit({ ntasks: 3 });
    const texts = ['plain', '\u001b[31mred\u001b[0m', 'tab\tand "quotes"', 'ümläut \u2028', ''];
    const queries: LogQuery[] = [];
    api.logs.read = async function* (query) {
      queries.push(query);
      for (const text of texts) yield line(text, 1);
    };
    const response = await api.call('GET', `/v1/jobs/${number}/logs?tasks=1-2&since=2026-01-01T00:00:00Z`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = await linesOf(response);
    expect(lines.map(({ text }) => text)).toEqual(texts);
    expect(lines[0]).toEqual({
      at: '2026-01-02T03:04:05.678Z',
      instance: 'i_aaaaaaaa',
      task: 1,
      attempt: 1,
      stream: 'stdout',
      text: 'plain',
    });
    expect(queries[0]).toMatchObject({
      owner: { workspace: 'default', cluster: number },
      sinceMs: Date.UTC(2026, 0, 1),
      follow: false,
    });
    expect([0, 1, 2, 3].filter((id) => queries[0]?.tasks?.has(id))).toEqual([1, 2]);
  });

  it('name what is wrong with the request before the first line', async () => {
    const api = await createTestApi();
    const number = await api.submit({ ntasks: 3 });
    for (const [query, field] of [
      ['tasks=3', 'tasks'],
      ['tasks=a', 'tasks'],
      ['follow=yes', 'follow'],
      ['since=yesterday', 'since'],
    ]) {
      const response = await api.call('GET', `/v1/jobs/${number}/logs?${query}`);
      expect([response.status, (await response.json()).error.field]).toEqual([422, field]);
    }
  });

  it('followed, end once the job has ended and no more lines come', async () => {
    const api = await createTestApi();
    const number = await api.submit({});
    const { released } = followed(api, [line('first'), line('last')]);
    const response = await api.call('GET', `/v1/jobs/${number}/logs?follow=true`);
    const job = api.workflows.jobs.get(number);
    if (job !== undefined) cancelJob(job, { code: 'CANCELLED', text: 'enough', atMs: api.now() });
    api.clock.offsetMs += 1_001;
    expect((await linesOf(response)).map(({ text }) => text)).toEqual(['first', 'last']);
    expect(await released).toBe(true);
  });

  it('followed, are let go when the reader leaves', async () => {
    const api = await createTestApi();
    const number = await api.submit({});
    const { released } = followed(api, [line('first')]);
    const response = await api.call('GET', `/v1/jobs/${number}/logs?follow=true`);
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value)).toContain('first');
    await reader?.cancel();
    expect(await released).toBe(true);
  });

  it('are cut, not ended, and say why, when the provider fails or the API shuts down', async () => {
    const api = await createTestApi();
    const number = await api.submit({});
    api.logs.read = async function* () {
      yield line('first');
      throw new Error('disk gone');
    };
    const failing = await api.call('GET', `/v1/jobs/${number}/logs`);
    await expect(failing.text()).rejects.toThrow('disk gone');
    api.logs.read = async function* () {
      yield line('first');
      throw new RopewalkError({ code: 'UNAVAILABLE', message: 'the cloud does not give them' });
    };
    const reader = (await api.call('GET', `/v1/jobs/${number}/logs`)).body?.getReader();
    await reader?.read();
    const last: unknown = JSON.parse(new TextDecoder().decode((await reader?.read())?.value));
    const error = { code: 'UNAVAILABLE', message: 'the cloud does not give them', requestId: expect.any(String) };
    expect(last).toEqual({ status: 503, error });
    await expect(reader?.read()).rejects.toThrow('the cloud does not give them');
    const { released } = followed(api, [line('first')]);
    const open = await api.call('GET', `/v1/jobs/${number}/logs?follow=true`);
    const text = open.text().catch(String);
    api.stopping.abort();
    expect(await text).toContain('shutting down');
    expect(await released).toBe(true);
  });
});

/** Yields these lines, then waits until its signal aborts; `released` resolves when its iteration has ended. */
function followed(api: TestApi, lines: LogLine[]): { released: Promise<boolean> } {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  api.logs.read = async function* ({ signal }) {
    try {
      yield* lines;
      await new Promise((done) => {
        if (signal?.aborted === true) done(null);
        else signal?.addEventListener('abort', done);
      });
    } finally {
      resolve(signal?.aborted === true);
    }
  };
  return { released: promise };
}
