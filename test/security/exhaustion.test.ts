// One caller cannot use up what is others': bytes, depth, requests, open answers, connections.
import { request } from 'node:http';
import { connect } from 'node:net';

import { serve, type ServerType } from '@hono/node-server';
import { afterEach, describe, expect, it } from 'vitest';

import { limitConnections, serverOptions } from '../../api/connections.ts';
import { createTestApi, type TestApi } from '../api/support.ts';
import { eventually } from '../support/eventually.ts';

const errorOf = async (response: Response) => (await response.json()).error;

describe('the size of a request', () => {
  it.each([
    ['POST', '/v1/jobs', 17 * 1024],
    ['POST', '/v1/clusters', 5 * 1024],
    ['PUT', '/v1/users/ada', 65],
    ['POST', '/v1/login/device', 65],
    ['POST', '/login', 65],
  ])('%s %s has a limit', async (method, path, kibibytes) => {
    const api = await createTestApi();
    const token = path.includes('login') ? null : api.token;
    const origin = 'http://127.0.0.1:7777';
    const response = await api.call(method, path, { token, headers: { origin }, body: 'x'.repeat(kibibytes * 1024) });
    expect(response.status).toBe(413);
    expect((await errorOf(response)).code).toBe('TOO_LARGE');
  });

  it('is refused by its Content-Length before any of it is read', async () => {
    const api = await createTestApi();
    let sent = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          sent += 1;
          controller.enqueue(new Uint8Array(1024));
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' };
    const declared = { method: 'POST', headers: { ...headers, 'content-length': '65537' }, body, duplex: 'half' };
    expect((await api.app.request('/v1/tokens', declared)).status).toBe(413);
    expect(sent).toBe(0);
  });

  it('is counted, also without a Content-Length', async () => {
    const api = await createTestApi();
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 16_384;
        if (sent > 50_000_000) controller.close();
        else controller.enqueue(new Uint8Array(16_384).fill(0x20));
      },
    });
    const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' };
    const chunked = { method: 'POST', headers, body, duplex: 'half' };
    expect((await api.app.request('/v1/tokens', chunked)).status).toBe(413);
    expect(sent).toBeLessThan(1_000_000);
  });
});

describe('the shape of a request', () => {
  const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

  it.each([
    ['an array in a known field', (deep: string) => `{"command":${deep}}`, '/v1/jobs'],
    ['an array alone', (deep: string) => deep, '/v1/jobs'],
    ['options of a worker', (deep: string) => `{"workerOptions":{"a":${deep}}}`, '/v1/clusters'],
    ['options of a scheduler', (deep: string) => `{"schedulerOptions":{"a":${deep}}}`, '/v1/clusters'],
  ])('may not be 10,000 deep: %s', async (_what, around, path) => {
    const api = await createTestApi();
    for (const deep of [nested('[', ']', 10_000), `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`]) {
      const response = await api.call('POST', path, { body: around(deep) });
      expect([response.status, (await errorOf(response)).code]).toEqual([422, 'VALIDATION']);
    }
  });

  it('accepts options nested as deep as users write them', async () => {
    const api = await createTestApi();
    const body = { workers: 1, workerOptions: { a: JSON.parse(nested('[', ']', 20)) } };
    expect((await api.call('POST', '/v1/clusters', { body })).status).toBe(201);
  });

  it.each([
    ['command', (list: number[]) => ({ command: list.map(String) })],
    ['files', (list: number[]) => ({ command: ['a'], files: list.map((n) => ({ path: String(n), content: '' })) })],
    ['array', (list: number[]) => ({ command: ['a'], array: list.join(',') })],
  ])('may not have 200,000 elements: %s', async (field, bodyWith) => {
    const api = await createTestApi();
    const body = bodyWith(Array.from({ length: 200_000 }, (_, n) => n));
    const response = await api.call('POST', '/v1/jobs', { body });
    expect([response.status, (await errorOf(response)).field]).toEqual([422, field]);
  });
});

describe('the rate of requests', () => {
  const quotas = { requestsPerSecond: 2, requestBurst: 5 };

  it('is bounded by user, says when to come back, and leaves others alone', async () => {
    const api = await createTestApi({ quotas });
    const secondToken = await api.addToken('default');
    const other = await api.addToken('default', ['read', 'write'], 'bob', 'member');
    const freeze = api.clock;
    const ask = (token: string) => api.call('GET', '/v1/whoami', { token });
    const statuses: number[] = [];
    let refused: Response | undefined;
    for (let count = 0; count < 100 && refused === undefined; count += 1) {
      const response = await ask(api.token);
      statuses.push(response.status);
      if (response.status === 429) refused = response;
    }
    expect(statuses.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused === undefined ? '' : (await errorOf(refused)).code).toBe('TOO_BUSY');
    // Another token of the same user is the same caller.
    expect((await ask(secondToken)).status).toBe(429);
    expect((await ask(other)).status).toBe(200);
    freeze.offsetMs += 1_000;
    expect((await ask(api.token)).status).toBe(200);
  });

  it('is bounded for a workspace too, however many users it has', async () => {
    const api = await createTestApi({ quotas, now: () => 1_800_000_000_000 });
    const users = Array.from({ length: 12 }, (_, at) => `user${at}`);
    const tokens = await Promise.all(users.map((user) => api.addToken('default', ['read'], user, 'member')));
    const stranger = await api.addToken('other');
    const statuses: number[] = [];
    for (const token of tokens) {
      for (let count = 0; count < 5; count += 1) {
        statuses.push((await api.call('GET', '/v1/whoami', { token })).status);
      }
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    expect((await api.call('GET', '/v1/whoami', { token: stranger })).status).toBe(200);
  });

  it('is bounded by bytes of bodies too: a caller who keeps sending large ones gets 429 with Retry-After', async () => {
    const bodies = { bodyBytesPerSecond: 100_000, bodyBytesBurst: 300_000 };
    const api = await createTestApi({ quotas: bodies });
    const content = Buffer.alloc(90_000, 'x').toString('base64');
    const text = JSON.stringify({ command: ['true'], files: [{ path: 'a', content }] });
    const headers = { 'content-length': String(text.length) };
    const send = (token = api.token) => api.call('POST', '/v1/jobs', { body: text, headers, token });
    const statuses: number[] = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await send()).status);
    expect(statuses).toEqual([201, 201, 429, 429]);
    const refused = await send(await api.addToken('default'));
    expect([refused.status, Number(refused.headers.get('retry-after')) >= 1]).toEqual([429, true]);
    expect((await send(await api.addToken('default', ['write'], 'bob', 'member'))).status).toBe(201);
    expect((await api.call('POST', '/v1/jobs', { body: { command: ['true'] } })).status).toBe(201);
    api.clock.offsetMs += 2_000;
    expect((await send()).status).toBe(201);
  });

  it('is bounded for instances too', async () => {
    const api = await createTestApi({ quotas });
    const minted = await api.tokens.mintInstance({ workspace: 'default', cluster: 1, job: 1, instance: 'i_aaaaaaaa' });
    const ask = () => api.call('GET', '/v1/agent/bundle', { token: minted.instanceToken });
    const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await ask()).status));
    expect(statuses).toContain(429);
    expect(statuses.filter((status) => status !== 429).length).toBeGreaterThanOrEqual(5);
  });

  it('is not used up by guesses: requests without a valid token do not count for the user', async () => {
    const api = await createTestApi({ quotas });
    const guess = `${api.token.slice(0, -1)}${api.token.endsWith('A') ? 'B' : 'A'}`;
    const guesses = Array.from(
      { length: 50 },
      async () => (await api.call('GET', '/v1/whoami', { token: guess })).status,
    );
    expect(new Set(await Promise.all(guesses))).toEqual(new Set([401]));
    expect((await api.call('GET', '/v1/whoami')).status).toBe(200);
  });
});

describe('answers that stay open', () => {
  it('are bounded by user, whatever the token; one that ends releases its place', async () => {
    const api = await createTestApi({ quotas: { openStreams: 2 } });
    const secondToken = await api.addToken('default');
    const others = await api.addToken('default', ['read'], 'bob', 'member');
    const number = await api.submit({});
    const leave = new AbortController();
    const follow = (signal?: AbortSignal) =>
      api.call('GET', `/v1/jobs/${number}/events?follow=true`, signal === undefined ? {} : { signal });
    const first = await follow(leave.signal);
    const second = await follow();
    expect([first.status, second.status]).toEqual([200, 200]);
    const third = await follow();
    expect([third.status, third.headers.has('retry-after')]).toEqual([429, true]);
    expect((await api.call('GET', `/v1/jobs/${number}/events?follow=true`, { token: secondToken })).status).toBe(429);
    const other = await api.call('GET', `/v1/jobs/${number}/events?follow=true`, { token: others });
    expect(other.status).toBe(200);
    leave.abort();
    await first.body?.cancel().catch(() => undefined);
    const again = await eventually(async () => {
      const response = await follow();
      return response.status === 200 ? response : null;
    });
    for (const each of [second, other, again]) await each.body?.cancel();
  });

  it('are bounded for a workspace too', async () => {
    const api = await createTestApi({ quotas: { openStreams: 1 } });
    const number = await api.submit({});
    const users = Array.from({ length: 11 }, (_, at) => `user${at}`);
    const tokens = await Promise.all(users.map((user) => api.addToken('default', ['read'], user, 'member')));
    const follow = (token: string) => api.call('GET', `/v1/jobs/${number}/events?follow=true`, { token });
    const answers: Response[] = [];
    for (const token of tokens) answers.push(await follow(token));
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    for (const each of answers) await each.body?.cancel();
  });

  it('of an unknown job hold no place', async () => {
    const api = await createTestApi({ quotas: { openStreams: 1 } });
    for (let count = 0; count < 3; count += 1) {
      expect((await api.call('GET', '/v1/jobs/777/events?follow=true')).status).toBe(404);
    }
  });
});

describe('connections', () => {
  const servers: ServerType[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      if ('closeAllConnections' in server) server.closeAllConnections();
      server.close();
    }
  });

  async function listen(api: TestApi, limits: { maxConnections: number }) {
    const all = { headersMs: 400, requestMs: 800, ...limits };
    const { promise, resolve } = Promise.withResolvers<number>();
    const options = { hostname: '127.0.0.1', port: 0, serverOptions: serverOptions(all) };
    const server = serve({ fetch: api.app.fetch, ...options }, ({ port }) => resolve(port));
    limitConnections(server, all);
    servers.push(server);
    return promise;
  }

  /** Sends these words, then nothing, and resolves with what came when the other end has closed. */
  const dawdle = (port: number, words: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(words));
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });

  it.each([
    ['headers', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: '],
    [
      'a body',
      'POST /v1/login/device HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    ],
  ])('that never finish %s are ended, and others are answered meanwhile', async (_what, words) => {
    const port = await listen(await createTestApi(), { maxConnections: 100 });
    const slow = Array.from({ length: 20 }, () => dawdle(port, words));
    const healthy = await fetch(`http://127.0.0.1:${port}/healthz`);
    expect(healthy.status).toBe(200);
    for (const text of await Promise.all(slow)) expect(text === '' || text.startsWith('HTTP/1.1 408')).toBe(true);
  });

  it('are bounded: those over the limit are closed unanswered', async () => {
    const port = await listen(await createTestApi(), { maxConnections: 2 });
    const half = 'GET /healthz HTTP/1.1\r\n';
    const held = [dawdle(port, half), dawdle(port, half)];
    const turnedAway = await eventually(async () => {
      const outcome = await new Promise<string>((resolve) => {
        const asked = request({ port, host: '127.0.0.1', path: '/healthz' }, () => resolve('answered'));
        asked.on('error', () => resolve('closed'));
        asked.end();
      });
      return outcome === 'closed' ? outcome : null;
    });
    expect(turnedAway).toBe('closed');
    await Promise.all(held);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  });

  it('take headers of 16 KiB, and no more', async () => {
    const port = await listen(await createTestApi(), { maxConnections: 100 });
    const text = await dawdle(port, `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1.1 431/);
  });
});
