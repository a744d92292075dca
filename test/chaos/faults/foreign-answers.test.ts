// A proxy or a captive portal answers in the API's place for some seconds, with any status: no agent ends, and no task is lost.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { startStack } from '../../support/stack.ts';
import type { TestStack } from '../../support/stack.ts';
import { startJob } from './job.ts';
import { startProxy } from './proxy.ts';
import type { ForeignAnswer, Proxy } from './proxy.ts';

const html = { 'content-type': 'text/html' };
const page = '<!doctype html><title>Not here</title><h1>Not here</h1>';
const answers: ForeignAnswer[] = [
  { status: 404, headers: html, body: page },
  { status: 502, headers: html, body: page },
  { status: 200, headers: html, body: page },
  { status: 401, headers: { 'content-type': 'application/json' }, body: '{"error":{"code":"UNAUTHENTICATED"}}' },
  { status: 302, headers: { location: 'http://127.0.0.1:9/login' }, body: '' },
  { status: 410, headers: html, body: page },
];
/** For two agents: each has repeated a request and received the foreign answer again. */
const foreignAnswers = 6;

let proxy: Proxy;
let stack: TestStack;
beforeAll(async () => {
  proxy = await startProxy();
  stack = await startStack({ overrides: { worker: { env: { ROPEWALK_API_URL: proxy.url } } } });
  proxy.upstream = stack.apiUrl;
});
afterAll(async () => {
  try {
    await stack.stop();
  } finally {
    proxy.close();
  }
});

it('foreign answers in place of the API cost no agent and no task', async () => {
  const job = await startJob(stack, { ntasks: 150, maxWorkers: 2 });
  try {
    await job.progress(5);
    const agents = await job.agents(2);
    for (const foreign of answers) {
      const before = proxy.count;
      proxy.foreign = foreign;
      await eventually(() => proxy.count >= before + foreignAnswers, { timeoutMs: 60_000 });
      proxy.foreign = null;
      await job.progress(3);
      expect(await job.agents(2), `after ${foreign.status}`).toEqual(agents);
    }
    const { status, counters } = await job.end();
    expect(job.lies()).toEqual([]);
    expect(status).toBe('done');
    expect(counters).toMatchObject({ retried: 0, lost: 0 });
  } finally {
    job.remove();
  }
});
