// A slow request needs its rights when it changes something, not only when it began.
import { createHash } from 'node:crypto';

import { describe, expect, it, vi } from 'vitest';

import type { Role } from '../../domain/people/state.ts';
import { createTestApi, type TestApi } from './support.ts';

/** A request whose body pauses after its first bytes until `during` has ended. */
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
  const bytesOf = request.arrayBuffer.bind(request);
  // The token has been checked when the body is read.
  request.arrayBuffer = () => (begun.resolve(undefined), bytesOf());
  const answer = Promise.resolve(api.app.fetch(request));
  await begun.promise;
  await during();
  arrived.resolve(undefined);
  return answer;
}

/** The traces of each request in the database and in the object store. */
const traces = async ({ store, objects }: TestApi) => [
  await store.workspaces.list(),
  await store.workspaces.usage('default'),
  await store.people.listTokens('default', {}),
  await store.people.listUsers('default'),
  await objects.list('', { limit: 99 }),
];

const setRole = ({ store, now }: TestApi, role: Role) =>
  store.people.putUser('default', { name: 'ada', role, by: null }, now());

const writes = (cluster: number): readonly (readonly [string, string, object])[] => [
  ['POST', '/v1/jobs', { command: ['true'] }],
  ['POST', '/v1/clusters', {}],
  ['POST', `/v1/clusters/${cluster}/scale`, { workers: 3 }],
  ['POST', `/v1/clusters/${cluster}/adapt`, { minimum: 1, maximum: 3 }],
  ['POST', `/v1/clusters/${cluster}/keepalive`, { keepalive: '10m' }],
  ['POST', '/v1/plans/jobs', { command: ['true'] }],
  ['POST', '/v1/tokens', { name: 'another' }],
  ['PUT', '/v1/users/eve', { role: 'admin' }],
  ['PUT', `/v1/package-files/${createHash('sha256').update('{}').digest('hex')}`, {}],
  ['PUT', '/v1/workspace/limits', { running: 100 }],
  ['POST', '/v1/workspaces', { slug: 'mine', admin: 'ada' }],
  ['POST', '/v1/login/device/approve', { userCode: 'ABCD-EFGH', approve: true }],
];

describe('while the body is sent', () => {
  it.each(writes(0).map(([method, path], n) => [method, path, n] as const))(
    'a token is revoked: %s %s answers 401 and changes nothing',
    async (_method, _path, n) => {
      const api = await createTestApi();
      const write = writes(await api.startCluster())[n];
      if (write === undefined) throw new Error(`no write ${n}`);
      let before: unknown;
      const answer = await slowly(api, write, async () => {
        await api.revoke(api.token);
        api.clock.offsetMs += 60_000;
        before = await traces(api);
      });
      expect([answer.status, await answer.json()]).toMatchObject([401, { error: { code: 'UNAUTHENTICATED' } }]);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(await traces(api)).toEqual(before);
    },
  );

  it('a user may only read from now on, or is removed', async () => {
    const api = await createTestApi();
    await api.addToken('default', ['admin'], 'root');
    const demoted = await slowly(api, ['POST', '/v1/jobs', { command: ['true'] }], async () => {
      await setRole(api, 'read-only');
      api.clock.offsetMs += 60_000;
    });
    expect(demoted.status).toBe(403);
    await setRole(api, 'admin');
    api.clock.offsetMs += 60_000;
    const removed = await slowly(api, ['POST', '/v1/jobs', { command: ['true'] }], async () => {
      await api.store.people.removeUser('default', { name: 'ada', by: null }, api.now());
      api.clock.offsetMs += 60_000;
    });
    expect(removed.status).toBe(401);
    expect((await api.usage()).running).toBe(0);
  });

  it('the database becomes unavailable: nothing is made', async () => {
    const api = await createTestApi();
    const answer = await slowly(api, ['POST', '/v1/jobs', { command: ['true'] }], async () => {
      api.database.isUnavailable = true;
      api.clock.offsetMs += 60_000;
    });
    expect([answer.status, await answer.json()]).toMatchObject([503, { error: { code: 'UNAVAILABLE' } }]);
    expect(await api.objects.list('', { limit: 99 })).toEqual([]);
  });

  it('nothing changes: a slow request is served, and a quick one reads its token once', async () => {
    const api = await createTestApi();
    const job = ['POST', '/v1/plans/jobs', { command: ['true'] }] as const;
    const find = vi.spyOn(api.deps.tokenCache, 'find');
    expect((await slowly(api, job, async () => undefined)).status).toBe(200);
    expect(find).toHaveBeenCalledTimes(1);
    expect((await slowly(api, job, async () => void (api.clock.offsetMs += 60_000))).status).toBe(200);
    expect(find).toHaveBeenCalledTimes(3);
  });
});

describe('while what was sent is stored', () => {
  it.each(['/v1/jobs', '/v1/clusters'])(
    'a token is revoked: POST %s makes nothing and leaves nothing',
    async (path) => {
      const api = await createTestApi();
      const put = api.objects.put.bind(api.objects);
      api.objects.put = async (...what) => {
        await put(...what);
        api.clock.offsetMs += 3_000;
        await api.revoke(api.token);
      };
      const body = path === '/v1/jobs' ? { command: ['true'] } : {};
      expect((await api.call('POST', path, { body })).status).toBe(401);
      expect((await api.usage()).running).toBe(0);
      expect(await api.objects.list('', { limit: 99 })).toEqual([]);
    },
  );
});

it('while its cluster is looked up a token is revoked: the cluster is not scaled', async () => {
  const api = await createTestApi();
  const number = await api.startCluster();
  const before = await api.usage();
  const query = api.workflows.port.query.bind(api.workflows.port);
  vi.spyOn(api.workflows.port, 'query').mockImplementation(async (id, ...what) => {
    const answer = await query(id, ...what);
    if (!id.startsWith('cluster/')) return answer;
    api.clock.offsetMs += 3_000;
    await api.revoke(api.token);
    return answer;
  });
  expect((await api.call('POST', `/v1/clusters/${number}/scale`, { body: { workers: 9 } })).status).toBe(401);
  expect(await api.usage()).toEqual(before);
});
