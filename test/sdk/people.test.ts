// Signing in, and users, against a real HTTP server that stands in for the API.
import { afterEach, describe, expect, it, vi } from 'vitest';

import { ConflictError, createClient, login, PermissionError, ServerError } from '../../sdk/client.ts';
import type { LoginCode } from '../../sdk/client.ts';
import { sleep } from '../../sdk/sleep.ts';
import { openStandIn, token } from './open-stand-in.ts';
import { aLoginStart, anError, notYet } from './stand-in-api.ts';

describe('login', () => {
  it(`shows the user's code only, and waits through "not yet" and an outage`, async () => {
    const unavailable = anError(503, { code: 'UNAVAILABLE', message: 'unavailable' }, { 'retry-after': '99' });
    const api = await openStandIn(
      (_, nth) => [{ json: aLoginStart }, notYet, unavailable, notYet][nth - 1] ?? { json: { id: 'x' } },
    );
    const codes: LoginCode[] = [];
    const troubles: string[] = [];
    const signal = new AbortController();
    const done = login({
      apiUrl: api.url,
      client: 'a test',
      onCode: (code) => codes.push(code),
      onUnreachable: (error) => {
        troubles.push(error.message);
        signal.abort(new Error('no longer'));
      },
      signal: signal.signal,
    });
    // The server's Retry-After is 99 seconds: the signal ends that wait.
    await expect(done).rejects.toThrow('no longer');
    expect(troubles).toEqual(['unavailable']);
    const { deviceCode: _, ...shown } = aLoginStart;
    expect(codes).toEqual([shown]);
    expect(api.requests.map(({ path, body, headers }) => [path, body, headers.authorization])).toEqual([
      ['/v1/login/device', { client: 'a test' }, undefined],
      ...Array.from({ length: 2 }, () => ['/v1/login/device/token', { deviceCode: 'device-secret' }, undefined]),
    ]);
  });

  it.each([
    [403, 'FORBIDDEN', PermissionError],
    [410, 'EXPIRED', ConflictError],
  ])('throws on %j %s', async (status, code, family) => {
    const api = await openStandIn((_, nth) =>
      nth === 1 ? { json: aLoginStart } : anError(status, { code, message: 'no' }),
    );
    await expect(login({ apiUrl: api.url, onCode: () => undefined })).rejects.toBeInstanceOf(family);
  });
});

describe('a pause that a server asks for', () => {
  afterEach(() => void vi.useRealTimers());

  it('is no shorter because it is longer than a timer can be', async () => {
    vi.useFakeTimers();
    const signal = new AbortController();
    const pause = sleep(1_000_000_000 * 1_000, signal.signal).then(
      () => 'over',
      () => 'aborted',
    );
    await vi.advanceTimersByTimeAsync(86_400_000);
    signal.abort();
    expect(await pause).toBe('aborted');
  });
});

describe('people', () => {
  it('are requested by their routes; names are escaped', async () => {
    const api = await openStandIn(() => ({ json: { items: [] } }));
    const client = createClient({ apiUrl: api.url, token });
    await client.whoami();
    await client.tokens.list();
    await client.tokens.revoke('abc/../x');
    await client.users.list();
    await client.users.set('a+b@c', { role: 'member' });
    await client.users.remove('a/b');
    await client.workspaces.current();
    await client.workspaces.setLimits({ vcpus: 1 });
    await client.workspaces.list();
    expect(api.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/whoami',
      'GET /v1/tokens',
      'POST /v1/tokens/abc%2F..%2Fx/revoke',
      'GET /v1/users',
      'PUT /v1/users/a%2Bb%40c',
      'DELETE /v1/users/a%2Fb',
      'GET /v1/workspace',
      'PUT /v1/workspace/limits',
      'GET /v1/workspaces',
    ]);
  });

  it('whose secret is in the answer are never created twice', async () => {
    const api = await openStandIn(() => anError(503, { code: 'UNAVAILABLE', message: 'unavailable' }));
    const client = createClient({ apiUrl: api.url, token });
    await expect(client.tokens.create()).rejects.toBeInstanceOf(ServerError);
    await expect(client.workspaces.create({ slug: 'a', admin: 'b' })).rejects.toBeInstanceOf(ServerError);
    expect(api.requests).toHaveLength(2);
  });
});
