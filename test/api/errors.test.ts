import { describe, expect, it } from 'vitest';

import { maxBodyBytes } from '../../domain/requests/limits.ts';
import { createTestApi } from './support.ts';

describe('errors', () => {
  it('has one body: code, message, and the request id, which is echoed', async () => {
    const api = await createTestApi();
    const response = await api.call('GET', '/v1/jobs/7', { headers: { 'x-request-id': 'my-id-1' } });
    expect(response.status).toBe(404);
    expect(response.headers.get('x-request-id')).toBe('my-id-1');
    expect(await response.json()).toEqual({
      error: {
        code: 'NOT_FOUND',
        message: 'There is no job 7 in this workspace.',
        hint: '`ropewalk batch list` or GET /v1/jobs lists the ones there are.',
        requestId: 'my-id-1',
      },
    });
    const other = await api.call('GET', '/v1/jobs/7', { headers: { 'x-request-id': 'a"b<c>' } });
    expect(other.headers.get('x-request-id')).not.toContain('<');
  });

  it('says what is wrong with a body that is not JSON, or not there', async () => {
    const api = await createTestApi();
    const broken = await api.call('POST', '/v1/jobs', { body: '{"command": [' });
    expect([broken.status, (await broken.json()).error.message]).toEqual([422, 'The request body is not valid JSON.']);
    const missing = await api.call('POST', '/v1/jobs');
    expect(missing.status).toBe(422);
    const list = await api.call('POST', '/v1/jobs', { body: '[]' });
    expect([list.status, (await list.json()).error.code]).toEqual([422, 'VALIDATION']);
  });

  it('counts further problems, and names a path parameter', async () => {
    const api = await createTestApi();
    const many = await api.call('POST', '/v1/jobs', { body: { command: [], ntasks: 0, array: '' } });
    expect((await many.json()).error).toMatchObject({
      field: 'command',
      message: expect.stringContaining('There are 2 more problems.'),
    });
    const two = await api.call('POST', '/v1/jobs', { body: { command: [], ntasks: 0 } });
    expect((await two.json()).error.message).toContain('There is 1 more problem.');
    const response = await api.call('GET', '/v1/jobs/abc');
    expect([response.status, (await response.json()).error.field]).toEqual([422, 'number']);
  });

  it('says which bound a value must keep, in words', async () => {
    const api = await createTestApi();
    const messageOf = async (body: object): Promise<string> =>
      (await (await api.call('POST', '/v1/jobs', { body })).json()).error.message;
    expect(await messageOf({ command: ['true'], ntasks: 0 })).toBe('ntasks must be at least 1.');
    expect(await messageOf({ command: ['true'], priority: 101 })).toBe('priority must be at most 100.');
    expect(await messageOf({ command: [] })).toBe('command must have at least 1 item.');
  });

  it('answers 404 and 405 in the same body, and says which methods work', async () => {
    const api = await createTestApi();
    const nowhere = await api.call('GET', '/v2/nothing', { token: null });
    expect([nowhere.status, (await nowhere.json()).error.code]).toEqual([404, 'NOT_FOUND']);
    const wrong = await api.call('DELETE', '/v1/jobs/3');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET']);
    expect((await wrong.json()).error.code).toBe('METHOD_NOT_ALLOWED');
    const two = await api.call('PUT', '/v1/jobs');
    expect(two.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'POST']);
  });

  it('answers browsers at an unknown address with the page of the application, and programs as ever', async () => {
    const web = { version: 'v1', html: '<!doctype html><title>Ropewalk</title>', js: '', css: '' };
    const api = await createTestApi({ web });
    const read = async (path: string, accept: string, method = 'GET'): Promise<[number, string, boolean]> => {
      const answer = await api.call(method, path, { token: null, headers: { accept } });
      const isPolicyOfPages = (answer.headers.get('content-security-policy') ?? '').includes("script-src 'self'");
      return [answer.status, answer.headers.get('content-type') ?? '', isPolicyOfPages];
    };
    const browser = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const page = [404, 'text/html; charset=utf-8', true];
    for (const path of ['/nonsense', '/jobs/abc', '/clusters/7/nothing', '/v1x']) {
      expect([path, ...(await read(path, browser))]).toEqual([path, ...page]);
      expect([path, ...(await read(path, '*/*'))]).toEqual([path, 404, 'application/json', false]);
    }
    expect(await read('/nonsense', browser, 'POST')).toEqual([404, 'application/json', false]);
    for (const path of ['/v1', '/v1/nonsense'])
      expect(await read(path, browser)).toEqual([404, 'application/json', false]);
    expect(await read('/jobs/7', browser)).toEqual([200, 'text/html; charset=UTF-8', true]);
  });

  it('refuses a body over the limit, before it is parsed, and after the token was checked', async () => {
    const api = await createTestApi();
    const body = 'x'.repeat(maxBodyBytes + 1);
    const response = await api.call('POST', '/v1/jobs', { body });
    expect([response.status, (await response.json()).error.code]).toEqual([413, 'TOO_LARGE']);
    expect((await api.call('POST', '/v1/jobs', { body, token: null })).status).toBe(401);
  });

  it('says nothing internal when we are at fault, and logs it under the request id', async () => {
    const api = await createTestApi();
    api.objects.get = async () => {
      throw new Error('disk on fire at /secret/path');
    };
    api.workflows.control.isUnavailable = true;
    const number = await api.submit({});
    const response = await api.call('GET', `/v1/jobs/${number}`, { headers: { 'x-request-id': 'find-me' } });
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).not.toMatch(/fire|secret|at /);
    expect(JSON.parse(text).error).toMatchObject({ code: 'INTERNAL', requestId: 'find-me' });
    const line = api.logged.find((entry) => entry.includes('disk on fire'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ requestId: 'find-me', level: 50 });
  });

  it('never logs a token', async () => {
    const api = await createTestApi();
    await api.call('GET', '/v1/jobs');
    await api.call('POST', '/v1/jobs', { body: { command: ['true'], secretEnv: { A: 'swordfish\0' } } });
    const secret = api.token.slice(api.token.indexOf('-') + 1);
    expect(api.logged.length).toBeGreaterThan(0);
    for (const word of [secret, 'swordfish']) expect(api.logged.join()).not.toContain(word);
  });

  it('is up without its database, and ready with it', async () => {
    const api = await createTestApi();
    const status = async (path: string) => (await api.call('GET', path, { token: null })).status;
    expect([await status('/healthz'), await status('/readyz')]).toEqual([200, 200]);
    api.database.isUnavailable = true;
    expect([await status('/healthz'), await status('/readyz')]).toEqual([200, 503]);
  });
});
