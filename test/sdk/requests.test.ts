import { afterEach, describe, expect, it } from 'vitest';

import {
  AuthenticationError,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  createClient,
  NotFoundError,
  PermissionError,
  RateLimitError,
  RopewalkApiError,
  ServerError,
  ValidationError,
} from '../../sdk/client.ts';
import { retryAfter } from '../../sdk/errors.ts';
import { maxTries } from '../../sdk/request.ts';
import { aJob, anError, startStandIn } from './stand-in-api.ts';
import type { Reply, StandIn } from './stand-in-api.ts';

const token = 'rw_default_abc-topsecret';
const open: StandIn[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((api) => api.close()));
});

async function standIn(reply: (nth: number) => Reply): Promise<StandIn> {
  const api = await startStandIn((_, nth) => reply(nth));
  open.push(api);
  return api;
}

const busy = anError(503, { code: 'UNAVAILABLE', message: 'unavailable' }, { 'retry-after': '0' });
const created = { number: 12, name: 'job-12', existing: false, warnings: [] };

describe('a request', () => {
  it('has the token, and the path in front of the API', async () => {
    const api = await standIn(() => ({ json: aJob() }));
    expect(await createClient({ apiUrl: `${api.url}/ropewalk/`, token }).jobs.get(12)).toEqual(aJob());
    expect(api.requests).toMatchObject([
      { method: 'GET', path: '/ropewalk/v1/jobs/12', headers: { authorization: `Bearer ${token}` } },
    ]);
  });

  it.each(['ropewalk.example', 'ftp://ropewalk.example', ''])('requires an http URL, not %j', (apiUrl) => {
    expect(() => createClient({ apiUrl, token })).toThrow(ConfigurationError);
  });

  it('uses the fetch it is given', async () => {
    const fetch: typeof globalThis.fetch = async () => Response.json(aJob({ name: 'mine' }));
    const client = createClient({ apiUrl: 'http://ropewalk.invalid', token, fetch });
    expect((await client.jobs.get(1)).name).toBe('mine');
  });
});

describe('repetition', () => {
  it.each([429, 502, 503, 504])('repeats a read after %d', async (status) => {
    const api = await standIn((nth) => (nth === 1 ? { status, headers: { 'retry-after': '0' } } : { json: aJob() }));
    expect((await createClient({ apiUrl: api.url, token }).jobs.get(12)).number).toBe(12);
    expect(api.requests).toHaveLength(2);
  });

  it('repeats a create with the same Idempotency-Key, and uses another key for another call', async () => {
    const api = await standIn((nth) => (nth === 1 ? busy : { status: 201, json: created }));
    const { jobs } = createClient({ apiUrl: api.url, token });
    await jobs.create({ command: ['true'] });
    await jobs.create({ command: ['true'] });
    await jobs.create({ command: ['true'] }, { idempotencyKey: 'mine' });
    const keys = api.requests.map((request) => request.headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
    expect(keys[3]).toBe('mine');
    expect(api.requests[0]?.body).toEqual({ command: ['true'] });
  });

  it('repeats cancel and stop', async () => {
    const api = await standIn((nth) => (nth % 2 === 1 ? busy : { status: 202, json: {} }));
    const client = createClient({ apiUrl: api.url, token });
    await client.jobs.cancel(12);
    await client.clusters.stop(12);
    expect(api.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/jobs/12/cancel',
      'POST /v1/jobs/12/cancel',
      'POST /v1/clusters/12/stop',
      'POST /v1/clusters/12/stop',
    ]);
  });

  it('follows a lost connection', async () => {
    const api = await standIn((nth) => (nth === 1 ? { ending: 'refuse' } : { json: aJob() }));
    expect((await createClient({ apiUrl: api.url, token }).jobs.get(12)).number).toBe(12);
    expect(api.requests).toHaveLength(2);
  });

  it('stops after a few attempts with the last error', async () => {
    const api = await standIn(() => busy);
    await expect(createClient({ apiUrl: api.url, token }).jobs.get(12)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(api.requests).toHaveLength(maxTries);
  });

  it.each([400, 401, 403, 404, 409, 422, 500])('does not follow %d', async (status) => {
    const api = await standIn(() => ({ status }));
    await expect(createClient({ apiUrl: api.url, token }).jobs.get(12)).rejects.toBeInstanceOf(RopewalkApiError);
    expect(api.requests).toHaveLength(1);
  });

  it('does not wait for a Retry-After of minutes', async () => {
    const api = await standIn(() => ({ ...busy, headers: { 'retry-after': '600' } }));
    const error = await createClient({ apiUrl: api.url, token })
      .jobs.get(12)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ retryAfterMs: 600_000 });
    expect(api.requests).toHaveLength(1);
  });

  it('reads Retry-After as seconds or as a date', () => {
    const headers = (value: string): Headers => new Headers({ 'retry-after': value });
    const nowMs = Date.parse('2026-01-01T00:00:00Z');
    expect(retryAfter(headers('3'))).toBe(3_000);
    expect(retryAfter(headers('Thu, 01 Jan 2026 00:00:05 GMT'), nowMs)).toBe(5_000);
    expect(retryAfter(headers('Wed, 31 Dec 2025 00:00:05 GMT'), nowMs)).toBe(0);
    expect(retryAfter(headers('soon'))).toBeUndefined();
    expect(retryAfter(new Headers())).toBeUndefined();
  });
});

describe('errors', () => {
  it.each([
    [401, AuthenticationError],
    [403, PermissionError],
    [404, NotFoundError],
    [409, ConflictError],
    [400, ValidationError],
    [413, ValidationError],
    [422, ValidationError],
    [429, RateLimitError],
    [500, ServerError],
  ])('%d has its own class', async (status, Family) => {
    const api = await standIn(() =>
      anError(status, { code: 'CODE', message: 'what', field: 'a.b', hint: 'do' }, { 'retry-after': '99' }),
    );
    const error = await createClient({ apiUrl: api.url, token })
      .jobs.get(12)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Family);
    expect(error).toBeInstanceOf(RopewalkApiError);
    expect(error).toMatchObject({
      name: Family.name,
      message: 'what',
      code: 'CODE',
      status,
      field: 'a.b',
      hint: 'do',
      requestId: 'req_1',
    });
  });

  it.each([['<html>Bad gateway</html>'], ['{"error":"text"}'], ['null'], ['']])(
    'says so when something else answers: %j',
    async (text) => {
      const api = await standIn(() => ({ status: 500, chunks: [text], headers: { 'x-request-id': 'req_h' } }));
      const error = await createClient({ apiUrl: api.url, token })
        .jobs.get(12)
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ServerError);
      expect(error).toMatchObject({ code: 'HTTP_500', requestId: 'req_h' });
    },
  );

  it('have the address, never the token, when no server answers', async () => {
    const api = await startStandIn(() => ({}));
    await api.close();
    const error = await createClient({ apiUrl: api.url, token })
      .jobs.get(12)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: 'CONNECTION', status: null, message: expect.stringContaining(api.url) });
    expect(error).toMatchObject({ message: expect.stringContaining('ECONNREFUSED') });
    expect(JSON.stringify(error) + String(error)).not.toContain('topsecret');
  });

  it('are a ConnectionError when the answer is incomplete or not JSON', async () => {
    const api = await standIn((nth) =>
      nth === 1 ? { chunks: ['{"number":'], ending: 'break' } : { chunks: ['<html>hello</html>'] },
    );
    const { jobs } = createClient({ apiUrl: api.url, token });
    await expect(jobs.get(12)).rejects.toBeInstanceOf(ConnectionError);
    await expect(jobs.get(12)).rejects.toBeInstanceOf(ConnectionError);
  });
});

describe('AbortSignal', () => {
  it('ends a request before, during and between attempts, with its own reason', async () => {
    const api = await standIn((nth) =>
      nth === 1 ? { ending: 'hang' } : { ...busy, headers: { 'retry-after': '20' } },
    );
    const { jobs } = createClient({ apiUrl: api.url, token });
    await expect(jobs.get(1, { signal: AbortSignal.abort('before') })).rejects.toBe('before');
    expect(api.requests).toHaveLength(0);

    for (const wanted of [1, 2]) {
      const controller = new AbortController();
      const outcome = jobs.get(1, { signal: controller.signal }).catch((reason: unknown) => reason);
      await expect.poll(() => api.requests.length).toBe(wanted);
      controller.abort(`abort ${wanted}`);
      expect(await outcome).toBe(`abort ${wanted}`);
    }
  });
});
