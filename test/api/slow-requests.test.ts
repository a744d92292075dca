// What takes long is done by whoever may do it when it is done, not by whoever might when it began.
import { describe, expect, it, vi } from 'vitest';

import { createTestApi, type TestApi } from './support.ts';

/** A request whose body is held back after its first bytes until `during` is over. */
async function slowly(
  api: TestApi,
  [method, path, content]: readonly [method: string, path: string, content: object],
  during: () => Promise<void>,
): Promise<Response> {
  const bytes = Buffer.from(JSON.stringify(content));
  const arrived = Promise.withResolvers<undefined>();
  const begun = Promise.withResolvers<undefined>();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(bytes.subarray(0, 1));
      await arrived.promise;
      controller.enqueue(bytes.subarray(1));
      controller.close();
    },
  });
  const headers = new Headers({ authorization: `Bearer ${api.token}`, 'content-type': 'application/json' });
  headers.set('content-length', String(bytes.byteLength));
  const init = { method, headers, body, duplex: 'half' };
  const request = new Request(`http://localhost${path}`, init);
  const text = request.text.bind(request);
  // The token has been checked when the body is asked for.
  request.text = () => (begun.resolve(undefined), text());
  const answer = Promise.resolve(api.app.fetch(request));
  await begun.promise;
  await during();
  arrived.resolve(undefined);
  return answer;
}

const stateOf = (api: TestApi) => {
  const state = api.workflows.workspaces.get('default');
  if (state === undefined) throw new Error('no workspace');
  return state;
};

/** What each would leave behind: all that the workspace knows, and all that is stored. */
const traces = async (api: TestApi) => [
  structuredClone(stateOf(api).holders),
  stateOf(api).tokens.length,
  stateOf(api).users.length,
  await api.objects.list('', { limit: 99 }),
];

const writes = (cluster: number): readonly (readonly [string, string, object])[] => [
  ['POST', '/v1/jobs', { command: ['true'] }],
  ['POST', '/v1/clusters', {}],
  ['POST', `/v1/clusters/${cluster}/scale`, { workers: 3 }],
  ['POST', `/v1/clusters/${cluster}/adapt`, { minimum: 1, maximum: 3 }],
  ['POST', `/v1/clusters/${cluster}/keepalive`, { keepalive: '10m' }],
  ['POST', '/v1/plans/jobs', { command: ['true'] }],
  ['POST', '/v1/tokens', { name: 'another' }],
  ['PUT', '/v1/users/eve', { role: 'admin' }],
  ['PUT', '/v1/workspace/limits', { running: 100 }],
  ['POST', '/v1/workspaces', { slug: 'mine', admin: 'ada' }],
  ['POST', '/v1/login/device/approve', { userCode: 'ABCD-EFGH', approve: true }],
];

describe('while the body is sent', () => {
  it.each(writes(0).map(([method, path], n) => [method, path, n] as const))(
    'a token is revoked: %s %s answers 401 and changes nothing',
    async (_method, _path, n) => {
      const api = createTestApi();
      const write = writes(await api.startCluster())[n];
      if (write === undefined) throw new Error(`no write ${n}`);
      let before: unknown;
      const answer = await slowly(api, write, async () => {
        const [token] = stateOf(api).tokens;
        if (token !== undefined) token.revokedAtMs = api.now();
        api.clock.offsetMs += 60_000;
        before = await traces(api);
      });
      expect([answer.status, await answer.json()]).toMatchObject([401, { error: { code: 'UNAUTHENTICATED' } }]);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(await traces(api)).toEqual(before);
    },
  );

  it('a user may only read from now on, or is removed', async () => {
    const api = createTestApi();
    const demoted = await slowly(api, ['POST', '/v1/jobs', { command: ['true'] }], async () => {
      for (const user of stateOf(api).users) user.role = 'read-only';
      api.clock.offsetMs += 60_000;
    });
    expect(demoted.status).toBe(403);
    for (const user of stateOf(api).users) user.role = 'admin';
    api.clock.offsetMs += 60_000;
    const gone = await slowly(api, ['POST', '/v1/jobs', { command: ['true'] }], async () => {
      stateOf(api).users = [];
      api.clock.offsetMs += 60_000;
    });
    expect(gone.status).toBe(401);
    expect(stateOf(api).holders).toEqual([]);
  });

  it('Temporal goes away: nothing new is made, as for a token that could not be checked at all', async () => {
    const api = createTestApi();
    const answer = await slowly(api, ['POST', '/v1/jobs', { command: ['true'] }], async () => {
      api.workflows.control.isAway = true;
      api.clock.offsetMs += 60_000;
    });
    expect([answer.status, await answer.json()]).toMatchObject([503, { error: { code: 'UNAVAILABLE' } }]);
    expect(await api.objects.list('', { limit: 99 })).toEqual([]);
  });

  it('all is well: who is slow is served, and who is fast asks Temporal nothing more', async () => {
    const api = createTestApi();
    const job = ['POST', '/v1/plans/jobs', { command: ['true'] }] as const;
    const asked = () => api.workflows.calls.filter((call) => call.startsWith('query workspace/')).length;
    expect((await slowly(api, job, async () => undefined)).status).toBe(200);
    expect(asked()).toBe(1);
    expect((await slowly(api, job, async () => void (api.clock.offsetMs += 60_000))).status).toBe(200);
    expect(asked()).toBe(2);
  });
});

describe('while what was sent is stored', () => {
  it.each(['/v1/jobs', '/v1/clusters'])(
    'a token is revoked: POST %s makes nothing and leaves nothing',
    async (path) => {
      const api = createTestApi();
      const put = api.objects.put.bind(api.objects);
      const [token] = stateOf(api).tokens;
      api.objects.put = async (...what) => {
        await put(...what);
        api.clock.offsetMs += 3_000;
        if (token !== undefined) token.revokedAtMs = api.now();
      };
      const body = path === '/v1/jobs' ? { command: ['true'] } : {};
      expect((await api.call('POST', path, { body })).status).toBe(401);
      expect(stateOf(api).holders).toEqual([]);
      expect(await api.objects.list('', { limit: 99 })).toEqual([]);
    },
  );
});

it('while its cluster is looked up a token is revoked: the cluster is not scaled', async () => {
  const api = createTestApi();
  const number = await api.startCluster();
  const [holder] = stateOf(api).holders;
  const before = structuredClone(holder);
  const query = api.workflows.port.query.bind(api.workflows.port);
  vi.spyOn(api.workflows.port, 'query').mockImplementation(async (id, ...what) => {
    const answer = await query(id, ...what);
    const [token] = stateOf(api).tokens;
    if (!id.startsWith('cluster/') || token === undefined) return answer;
    api.clock.offsetMs += 3_000;
    token.revokedAtMs = api.now();
    return answer;
  });
  expect((await api.call('POST', `/v1/clusters/${number}/scale`, { body: { workers: 9 } })).status).toBe(401);
  expect(holder).toEqual(before);
});
