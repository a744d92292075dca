// startCluster and its handle, against a real HTTP server that stands in for the API.
import { afterEach, describe, expect, it } from 'vitest';

import { ClusterFailedError, ClusterTimeoutError, startCluster } from '../../sdk/client.ts';
import type { Cluster, StartClusterOptions } from '../../sdk/client.ts';
import { aCluster, anError, startStandIn } from './stand-in-api.ts';
import type { ReceivedRequest, Reply, StandIn } from './stand-in-api.ts';

const open: StandIn[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((api) => api.close()));
});

interface Behaviour {
  /** Whether there is one of that name when the nth POST arrives, from 1. */
  existing?: boolean | ((nth: number) => boolean);
  /** The view for the nth GET of the cluster, from 1. */
  view?: (nth: number) => Cluster;
  post?: (request: ReceivedRequest) => Reply | undefined;
}

async function standIn({ existing = false, view = () => aCluster(), post }: Behaviour = {}): Promise<
  StandIn & { options: Pick<StartClusterOptions, 'apiUrl' | 'token' | 'pollMs'>; posts: () => string[] }
> {
  let looks = 0;
  let creates = 0;
  const api = await startStandIn((request) => {
    const { method, path, body } = request;
    const wantsNew = !Object.entries(body ?? {}).some(([name, value]) => name === 'getOrCreate' && value === true);
    if (path === '/v1/clusters') creates += 1;
    const exists = typeof existing === 'boolean' ? existing : existing(creates);
    if (path === '/v1/clusters' && exists && wantsNew) {
      return anError(409, { code: 'NAME_TAKEN', message: 'there is one' });
    }
    if (path === '/v1/clusters')
      return { status: 201, json: { number: 7, name: 'blue', existing: exists, warnings: ['w'] } };
    if (method === 'POST') return post?.(request) ?? { status: 202, json: {} };
    if (path.endsWith('/credentials')) return { json: { schedulerAddress: 'tls://127.0.0.1:8786' } };
    looks += 1;
    return { json: view(looks) };
  });
  open.push(api);
  const posts = (): string[] =>
    api.requests.filter(({ method }) => method === 'POST').map(({ path }) => path.replace('/v1/clusters', ''));
  return { ...api, posts, options: { apiUrl: api.url, token: 'rw_default_abc-topsecret', pollMs: 1 } };
}

const starting = (workersStarted: number): Cluster =>
  aCluster({ status: 'starting', dask: { workersWanted: 10, workersStarted } });

describe('startCluster', () => {
  it('sends the options of the cluster, not its own, and waits for the first workers', async () => {
    const api = await standIn({ view: (nth) => starting(nth) });
    const seen: (number | undefined)[] = [];
    const created: unknown[] = [];
    const cluster = await startCluster({
      ...api.options,
      workers: 10,
      name: 'blue',
      idleTimeout: '1 hour',
      shutdownOnClose: true,
      timeoutMs: 20_000,
      onCreated: (each) => created.push(each),
      onProgress: ({ dask }) => seen.push(dask?.workersStarted),
    });
    expect(cluster).toMatchObject({ number: 7, name: 'blue', existing: false, warnings: ['w'] });
    // The first request refuses an existing cluster: its answer is the caller's own cluster.
    expect(api.requests[0]?.body).toEqual({ workers: 10, name: 'blue', idleTimeout: '1 hour', getOrCreate: false });
    expect(seen).toEqual([1, 2, 3]);
    expect(created).toEqual([{ number: 7, name: 'blue', existing: false, warnings: ['w'] }]);
    expect(api.posts()).toEqual(['']);
  });

  it('waits for the name of an ending cluster, which cannot be used', async () => {
    // Each attempt is two requests while the earlier cluster has the name.
    const api = await standIn({
      existing: (nth) => nth <= 4,
      view: (nth) => (nth <= 2 ? aCluster({ status: nth === 1 ? 'stopping' : 'stopped' }) : aCluster()),
    });
    const cluster = await startCluster({ ...api.options, name: 'blue' });
    expect(cluster).toMatchObject({ existing: false });
    expect(api.posts()).toHaveLength(5);

    const ending = await standIn({ existing: true, view: () => aCluster({ status: 'stopping' }) });
    const given = startCluster({ ...ending.options, name: 'blue', timeoutMs: 20 });
    await expect(given).rejects.toThrow('cluster 7 is still ending and keeps the name blue until then');
    await expect(given).rejects.toBeInstanceOf(ClusterTimeoutError);
    expect(ending.requests.some(({ path }) => path.endsWith('/stop'))).toBe(false);
  });

  it('stops a cluster that does not start, and throws the reason', async () => {
    const failed = await standIn({ view: () => aCluster({ status: 'error' }) });
    await expect(startCluster(failed.options)).rejects.toBeInstanceOf(ClusterFailedError);
    const late = await standIn({ view: () => starting(0) });
    await expect(startCluster({ ...late.options, timeoutMs: 1_000 })).rejects.toBeInstanceOf(ClusterTimeoutError);
    const left = await standIn({ view: () => starting(0) });
    const signal = AbortSignal.timeout(1_000);
    await expect(startCluster({ ...left.options, signal })).rejects.toMatchObject({ name: 'TimeoutError' });
    for (const api of [failed, late, left]) expect(api.posts()).toEqual(['', '/7/stop']);
  });

  it('throws the first error when the cluster cannot be stopped either', async () => {
    const gone = anError(404, { code: 'NOT_FOUND', message: 'gone' });
    const api = await standIn({ view: () => aCluster({ status: 'error' }), post: () => gone });
    await expect(startCluster(api.options)).rejects.toBeInstanceOf(ClusterFailedError);
  });

  it.each([
    ['existed before', { existing: true }, { name: 'blue' }],
    ['was not to be stopped', {}, { shutdownOnClose: false }],
  ])('does not stop a cluster that %s', async (_, behaviour, options) => {
    const api = await standIn({ ...behaviour, view: () => starting(0) });
    await expect(startCluster({ ...api.options, ...options, timeoutMs: 30 })).rejects.toBeInstanceOf(
      ClusterTimeoutError,
    );
    expect(api.posts().filter((path) => path !== '')).toEqual([]);
  });
});

describe('a cluster handle', () => {
  it('stops the cluster once when the block is left, also by an error', async () => {
    const api = await standIn();
    const use = async (): Promise<never> => {
      await using cluster = await startCluster(api.options);
      expect(cluster.number).toBe(7);
      throw new Error('in the middle');
    };
    await expect(use()).rejects.toThrow('in the middle');
    expect(api.posts()).toEqual(['', '/7/stop']);

    const cluster = await startCluster(api.options);
    await Promise.all([cluster.close(), cluster.close()]);
    await cluster.close();
    expect(api.posts()).toEqual(['', '/7/stop', '', '/7/stop']);
  });

  it.each([
    [true, undefined, false],
    [true, true, true],
    [false, false, false],
  ])('existed before: %j, shutdownOnClose: %j; is stopped: %j', async (existing, shutdownOnClose, stops) => {
    const api = await standIn({ existing });
    {
      await using cluster = await startCluster({
        ...api.options,
        name: 'blue',
        ...(shutdownOnClose !== undefined && { shutdownOnClose }),
      });
      expect(cluster.existing).toBe(existing);
    }
    expect(api.posts().includes('/7/stop')).toBe(stops);
  });

  it('can be closed again after a failed stop, and stops also a cluster that existed before', async () => {
    let refusals = 1;
    const post = (): Reply | undefined =>
      refusals-- > 0 ? anError(403, { code: 'FORBIDDEN', message: 'not now' }) : undefined;
    const api = await standIn({ post });
    const cluster = await startCluster(api.options);
    await expect(cluster.close()).rejects.toThrow('not now');
    await cluster.close();
    expect(api.posts()).toEqual(['', '/7/stop', '/7/stop']);

    const other = await standIn({ existing: true });
    await (await startCluster({ ...other.options, name: 'blue' })).stop();
    expect(other.posts()).toEqual(['', '', '/7/stop']);
  });

  it('waits for the requested workers although views do not show them yet', async () => {
    const four = (workersStarted: number): Cluster =>
      aCluster({
        status: workersStarted === 4 ? 'ready' : 'scaling',
        dask: { workersWanted: 4, workersStarted },
      });
    // One read by startCluster, then two reads that still show the state before the scaling.
    const views = [aCluster(), aCluster(), aCluster(), four(2), four(3), four(4)];
    const api = await standIn({ view: (nth) => views[nth - 1] ?? four(4) });
    const cluster = await startCluster(api.options);
    await cluster.scale(4);
    const ready = await cluster.waitForWorkers(true, { pollMs: 1 });
    expect(ready.dask?.workersStarted).toBe(4);
    expect(api.requests.find(({ path }) => path.endsWith('/scale'))?.body).toEqual({ workers: 4 });
  });

  it('returns credentials once the scheduler has started', async () => {
    const none = aCluster({ status: 'starting', dask: { schedulerAddress: null, workersStarted: 0 } });
    const api = await standIn({ view: (nth) => (nth < 3 ? none : aCluster()) });
    const cluster = await startCluster({ ...api.options, waitForWorkers: false });
    expect(api.requests.filter(({ path }) => path.endsWith('/credentials'))).toEqual([]);
    expect(await cluster.credentials({ pollMs: 1 })).toEqual({ schedulerAddress: 'tls://127.0.0.1:8786' });
    expect(api.requests.slice(-3).map(({ path }) => path)).toEqual([
      '/v1/clusters/7',
      '/v1/clusters/7',
      '/v1/clusters/7/credentials',
    ]);
  });

  it('calls the methods of the client with its number', async () => {
    const api = await standIn({ post: () => ({ status: 202, json: { url: 'https://x/link' } }) });
    const cluster = await startCluster(api.options);
    await cluster.adapt({ minimum: 1, maximum: 2 });
    await cluster.keepalive('30s');
    expect(await cluster.dashboardUrl()).toBe('https://x/link');
    expect((await cluster.get()).number).toBe(7);
    expect(api.posts()).toEqual(['', '/7/adapt', '/7/keepalive', '/7/dashboard-link']);
  });
});
