// One caller cannot exhaust the resources of others: bytes, depth, requests, open answers.
import { describe, expect, it, vi } from 'vitest';

import { jsonPartBytes } from '../../domain/requests/limits.ts';
import { createTestApi } from '../api/support.ts';
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

  it.each([
    ['8,000,000 levels', `{"command":${'['.repeat(8_000_000)}${']'.repeat(8_000_000)}}`],
    ['1,000,000 fields', `{${Array.from({ length: 1_000_000 }, (_, n) => `"k${n}":1`).join(',')}}`],
    ['250,000 variables', `{"env":{${Array.from({ length: 250_000 }, (_, n) => `"-${n}":"1"`).join(',')}}}`],
    ['5,000,000 sets of variables', `{"mapOver":{"variables":[${'{},'.repeat(5_000_000)}{}]}}`],
  ])('is looked through before it is parsed: %s', async (_what, body) => {
    const api = await createTestApi();
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
    const response = await api.call('POST', '/v1/jobs', { headers, body });
    expect([response.status, (await errorOf(response)).message]).toEqual([
      422,
      expect.stringMatching(/^The request body (is nested deeper|has an? (object|list) of more) than/),
    ]);
  });

  it('counts by what it holds, too: each set of variables costs more than its characters', async () => {
    const api = await createTestApi();
    const counted = vi.spyOn(api.deps.quotas, 'body');
    const body = `{"command":["true"],"mapOver":{"variables":[${'{"A":""},'.repeat(40_000)}{"A":""}]}}`;
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
    expect((await api.call('POST', '/v1/plans/jobs', { headers, body })).status).toBe(200);
    // Four of them are its own lists and objects.
    expect(counted.mock.calls.map(([, bytes]) => bytes)).toEqual([body.length, 40_005 * jsonPartBytes]);
  });

  it('has at most 200 options', async () => {
    const api = await createTestApi();
    const body = (count: number) => ({
      command: ['true'],
      options: Object.fromEntries(Array.from({ length: count }, (_, n) => [`none-${n}`, ''])),
    });
    const few = await errorOf(await api.call('POST', '/v1/jobs', { body: body(200) }));
    expect(few.message).toContain('There are 180 more.');
    const many = await errorOf(await api.call('POST', '/v1/jobs', { body: body(201) }));
    expect(many).toMatchObject({
      code: 'VALIDATION',
      field: 'options',
      message: expect.stringContaining('200 options'),
    });
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

it('a plan takes a body of 4 MiB, and none as large as a job’s', async () => {
  const api = await createTestApi();
  const plan = (bytes: number) => {
    const content = Buffer.alloc(bytes, 'x').toString('base64');
    return api.call('POST', '/v1/plans/jobs', { body: { command: ['true'], files: [{ path: 'a', content }] } });
  };
  expect((await plan(3_000_000)).status).toBe(200);
  const refused = await plan(3_200_000);
  expect([refused.status, (await errorOf(refused)).code]).toEqual([413, 'TOO_LARGE']);
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

  it('is answered with the time after which the same body fits', async () => {
    const clock = { nowMs: 1_800_000_000_000 };
    const quotas = { bodyBytesPerSecond: 10_000, bodyBytesBurst: 300_000 };
    const api = await createTestApi({ quotas, now: () => clock.nowMs });
    const content = Buffer.alloc(90_000, 'x').toString('base64');
    const text = JSON.stringify({ command: ['true'], files: [{ path: 'a', content }] });
    const headers = { 'content-length': String(text.length) };
    const send = () => api.call('POST', '/v1/jobs', { body: text, headers });
    for (let count = 0; count < 2; count += 1) expect((await send()).status).toBe(201);
    const refused = await send();
    const seconds = Math.ceil((3 * text.length - 300_000) / 10_000);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, String(seconds)]);
    clock.nowMs += (seconds - 1) * 1_000;
    expect((await send()).headers.get('retry-after')).toBe('1');
    clock.nowMs += 1_000;
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
