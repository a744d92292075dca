// Clusters through the SDK, against a real HTTP server that stands in for the API.
import { describe, expect, it } from 'vitest';

import { ClusterFailedError, ClusterTimeoutError, ConflictError, ServerError } from '../../sdk/client.ts';
import type { Client, Cluster, ClusterEvent, LogLine, WorkerAmount } from '../../sdk/client.ts';
import { connect } from './open-stand-in.ts';
import { aCluster, aLine, anError, anInstance, aProcess } from './stand-in-api.ts';
import type { StandIn } from './stand-in-api.ts';

const reason = (code: string, text: string): Cluster['reason'] => ({ code, text, at: '2024-11-18T17:30:00.000Z' });

describe('calls', () => {
  it('are the routes of the API', async () => {
    const { client, api } = await connect(({ method }) => ({ status: method === 'POST' ? 202 : 200, json: {} }));
    const { clusters } = client;
    await clusters.create({ workers: 2, name: 'blue' }, { idempotencyKey: 'once' });
    await clusters.scale(7, 0);
    await clusters.adapt(7, { minimum: 1, maximum: 9 });
    await clusters.adapt(7, null);
    await clusters.keepalive(7);
    await clusters.keepalive(7, '5 minutes');
    await clusters.stop(7);
    await clusters.credentials(7);
    await clusters.dashboardLink(7);
    await clusters.get(7);
    await clusters.why(7);
    const sent = api.requests.map(({ method, path, body }) => [`${method} ${path}`, body]);
    expect(sent).toEqual([
      ['POST /v1/clusters', { workers: 2, name: 'blue' }],
      ['POST /v1/clusters/7/scale', { workers: 0 }],
      ['POST /v1/clusters/7/adapt', { minimum: 1, maximum: 9 }],
      ['POST /v1/clusters/7/adapt', {}],
      ['POST /v1/clusters/7/keepalive', {}],
      ['POST /v1/clusters/7/keepalive', { timeout: '5 minutes' }],
      ['POST /v1/clusters/7/stop', undefined],
      ['GET /v1/clusters/7/credentials', undefined],
      ['POST /v1/clusters/7/dashboard-link', undefined],
      ['GET /v1/clusters/7', undefined],
      ['GET /v1/clusters/7/why', undefined],
    ]);
    expect(api.requests[0]?.headers['idempotency-key']).toBe('once');
  });

  it('that create have a new key each, and the same key when repeated', async () => {
    const unavailable = anError(503, { code: 'UNAVAILABLE', message: 'unavailable' });
    const { client, api } = await connect((_, nth) => (nth === 1 ? unavailable : { status: 201, json: {} }));
    await client.clusters.create();
    await client.clusters.create();
    const [first, again, second] = api.requests.map(({ headers }) => headers['idempotency-key']);
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(again).toBe(first);
    expect(second).not.toBe(first);
  });

  it('throw the errors of the API', async () => {
    const stopping = anError(409, { code: 'CONFLICT', message: 'cluster 7 is stopping' });
    const { client } = await connect(() => stopping);
    await expect(client.clusters.scale(7, 3)).rejects.toBeInstanceOf(ConflictError);
    const notYet = anError(503, { code: 'NOT_YET', message: 'no scheduler yet' }, { 'retry-after': '99' });
    const early = await connect(() => notYet);
    await expect(early.client.clusters.credentials(7)).rejects.toMatchObject({
      constructor: ServerError,
      code: 'NOT_YET',
    });
  });
});

describe('logs and events', () => {
  it('of a cluster are requested with the parameters of the API', async () => {
    const { client, api } = await connect(() => ({ chunks: [] }));
    await client.clusters.logs(7, { instance: 'i_one', since: new Date(0), follow: true }).next();
    await client.clusters.events(7, { follow: true }).next();
    await client.clusters.events(7).next();
    await client.clusters.events(7, { after: 12, limit: 3 }).next();
    expect(api.requests.map(({ path, query }) => [path, query])).toEqual([
      ['/v1/clusters/7/logs', { instance: 'i_one', since: '1970-01-01T00:00:00.000Z', follow: 'true' }],
      ['/v1/clusters/7/events', { follow: 'true' }],
      ['/v1/clusters/7/events', {}],
      ['/v1/clusters/7/events', { after: '12', limit: '3' }],
    ]);
  });

  it('continue after a lost connection when followed: lines of an agent and of its Dask process have separate orders', async () => {
    const at = (second: number): string => `2025-07-09T16:50:${second}.000Z`;
    const line = (second: number, stream: LogLine['stream'], text: string): LogLine =>
      aLine({ at: at(second), task: null, attempt: null, stream, text });
    const first = [line(10, 'agent', 'registered'), line(12, 'stdout', 'b'), line(12, 'stderr', 'c')];
    // The agent's earlier line was still in transit.
    const all = [first[0], line(11, 'agent', 'certificate'), ...first.slice(1), line(13, 'stdout', 'd')];
    const ndjson = (lines: unknown[]): string[] => lines.map((each) => `${JSON.stringify(each)}\n`);
    const { client } = await connect((_, nth) =>
      nth === 1 ? { chunks: ndjson(first), ending: 'break' } : { chunks: ndjson(all) },
    );
    const texts: string[] = [];
    for await (const { text } of client.clusters.logs(7, { follow: true, agents: true })) texts.push(text);
    expect(texts).toEqual(['registered', 'b', 'c', 'certificate', 'd']);
    const printed: string[] = [];
    for await (const { text } of client.clusters.logs(7)) printed.push(text);
    expect(printed).toEqual(['b', 'c', 'd']);
  });

  it('yield each event once when followed, also equal events and events of the same time', async () => {
    const event = (second: number, code: string): ClusterEvent => ({
      ...{ seq: second, at: `2025-07-09T16:50:${second}.000Z`, by: null },
      code,
      text: code.toLowerCase(),
    });
    const all = [event(10, 'SCALE'), event(11, 'LOST'), event(11, 'LOST'), event(11, 'READY'), event(12, 'ADAPT')];
    const ndjson = all.map((each) => `${JSON.stringify(each)}\n`);
    const troubles: string[] = [];
    // The oldest one has been forgotten meanwhile.
    const { client } = await connect((_, nth) =>
      nth === 1 ? { chunks: ndjson.slice(0, 3), ending: 'break' } : { chunks: ndjson.slice(1) },
    );
    const got: ClusterEvent[] = [];
    const options = { follow: true, onUnreachable: (error: Error) => troubles.push(error.message) };
    for await (const each of client.clusters.events(7, options)) got.push(each);
    expect(got).toEqual(all);
    expect(troubles).toHaveLength(1);
  });
});

describe('waitForWorkers', () => {
  /** Answers with one view after the other, and the last one from then on. */
  async function among(views: Cluster[]): Promise<{ client: Client; api: StandIn }> {
    return connect((_, nth) => ({ json: views[Math.min(nth, views.length) - 1] }));
  }
  const growing = [null, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((workersStarted) =>
    aCluster({
      status: workersStarted === 10 ? 'ready' : 'starting',
      dask: workersStarted === null ? null : { workersWanted: 10, workersStarted },
    }),
  );

  it.each<[WorkerAmount | undefined, number | undefined]>([
    [undefined, 3],
    [true, 10],
    [1, 1],
    [7, 7],
    [0.5, 5],
    [0.51, 6],
    [0.01, 1],
  ])('%j of 10 ends when %j have started', async (amount, expected) => {
    const { client } = await among(growing);
    const cluster = await client.clusters.waitForWorkers(7, amount, { pollMs: 1 });
    expect(cluster.dask?.workersStarted).toBe(expected);
  });

  it.each([false, 0])('%j waits for nothing in any state of the cluster', async (amount) => {
    const { client } = await among([aCluster({ status: 'stopped' })]);
    expect((await client.clusters.waitForWorkers(7, amount)).status).toBe('stopped');
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('%j is not an amount', async (amount) => {
    const { client, api } = await among(growing);
    await expect(client.clusters.waitForWorkers(7, amount)).rejects.toBeInstanceOf(RangeError);
    expect(api.requests).toEqual([]);
  });

  it('resolves with some workers when the others have failed', async () => {
    const part = { workersWanted: 3, workersStarted: 1, workersErrored: 2 };
    const { client } = await among([aCluster({ status: 'starting', dask: part }), aCluster({ dask: part })]);
    const cluster = await client.clusters.waitForWorkers(7, true, { pollMs: 1 });
    expect(cluster).toMatchObject({ status: 'ready', dask: { workersStarted: 1 } });
  });

  it.each([
    ['stopping', 'is stopping'],
    ['stopped', 'has ended'],
    ['error', 'has ended'],
  ] as const)('throws the grouped reasons when the cluster is %s', async (status, words) => {
    const failed = aCluster({
      status,
      reason: reason('START_FAILED', 'no worker started within 10 minutes'),
      failures: [
        { code: 'REGISTER_TIMEOUT', text: 'it did not register', count: 1, lastAt: '2024-11-18T17:30:00.000Z' },
        { code: 'ENVIRONMENT_FAILED', text: 'no such package', count: 4, lastAt: '2024-11-18T17:30:00.000Z' },
      ],
      instances: [
        anInstance({ state: 'error', reason: reason('ENVIRONMENT_FAILED', 'counted already') }),
        anInstance({ process: aProcess({ state: 'error', reason: reason('WORKER_FAILED', 'exit code 1') }) }),
      ],
      dask: { workersStarted: 0 },
    });
    const { client } = await among([aCluster({ status: 'starting', dask: { workersStarted: 0 } }), failed]);
    const error = await client.clusters.waitForWorkers(7, 1, { pollMs: 1 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ClusterFailedError);
    expect(error).toMatchObject({
      code: 'START_FAILED',
      cluster: { number: 7, status },
      failures: [{ code: 'ENVIRONMENT_FAILED', count: 4 }, { code: 'REGISTER_TIMEOUT' }, { code: 'WORKER_FAILED' }],
      message: [
        `cluster 7 ${words}: no worker started within 10 minutes`,
        '  4 x ENVIRONMENT_FAILED: no such package',
        '  1 x REGISTER_TIMEOUT: it did not register',
        '  1 x WORKER_FAILED: exit code 1',
      ].join('\n'),
    });
  });

  it.each([
    ['NO_WORKERS', true, aCluster({ dask: { workersStarted: 0, workersErrored: 2 } })],
    ['NOT_ENOUGH_WORKERS', 3, aCluster()],
    [
      'NOT_ENOUGH_WORKERS',
      30,
      aCluster({
        dask: { adaptive: { minimum: 1, maximum: 29, targetDurationSeconds: 180, waitCount: 24, intervalSeconds: 5 } },
      }),
    ],
    ['NOT_DASK', 1, aCluster({ job: 7, dask: null })],
  ])('throws %s when no more workers can start', async (code, amount, view) => {
    const { client } = await among([view]);
    await expect(client.clusters.waitForWorkers(7, amount)).rejects.toMatchObject({ name: 'ClusterFailedError', code });
  });

  it('continues while adaptive scaling can add workers', async () => {
    const adaptive = { minimum: 1, maximum: 5, targetDurationSeconds: 180, waitCount: 24, intervalSeconds: 5 };
    const views = [
      aCluster({ dask: { adaptive } }),
      aCluster({ dask: { adaptive, workersWanted: 5, workersStarted: 3 } }),
    ];
    const { client, api } = await among(views);
    await client.clusters.waitForWorkers(7, 3, { pollMs: 1 });
    expect(api.requests).toHaveLength(2);
  });

  it('times out with the progress of the cluster, or ends with the reason of its signal', async () => {
    const { client } = await among([aCluster({ status: 'starting', dask: { workersStarted: 1 } })]);
    const late = client.clusters.waitForWorkers(7, 2, { pollMs: 5, timeoutMs: 60 });
    await expect(late).rejects.toBeInstanceOf(ClusterTimeoutError);
    await expect(late).rejects.toThrow('it is starting, with 1 of 2 workers');

    const controller = new AbortController();
    const onProgress = (): void => controller.abort('enough');
    await expect(client.clusters.waitForWorkers(7, 2, { onProgress, signal: controller.signal })).rejects.toBe(
      'enough',
    );
  });

  it('continues through an outage', async () => {
    const unavailable = anError(503, { code: 'UNAVAILABLE', message: 'unavailable' }, { 'retry-after': '99' });
    const starting = aCluster({ status: 'starting', dask: { workersStarted: 0 } });
    const { client } = await connect((_, nth) =>
      nth === 2 ? unavailable : { json: nth === 1 ? starting : aCluster() },
    );
    const troubles: string[] = [];
    const onUnreachable = (error: { code: string }): void => void troubles.push(error.code);
    await client.clusters.waitForWorkers(7, true, { pollMs: 1, onUnreachable });
    expect(troubles).toEqual(['UNAVAILABLE']);
  });

  it('has variants for the scheduler and for the end', async () => {
    const none = { schedulerAddress: null, workersStarted: 0 };
    const starting = await among([aCluster({ dask: null }), aCluster({ status: 'starting', dask: none }), aCluster()]);
    await starting.client.clusters.waitForScheduler(7, { pollMs: 1 });
    expect(starting.api.requests).toHaveLength(3);

    const ending = await among([aCluster({ status: 'stopping' }), aCluster({ status: 'error' })]);
    expect((await ending.client.clusters.waitForEnd(7, { pollMs: 1 })).status).toBe('error');
    await expect(ending.client.clusters.waitForScheduler(7)).rejects.toBeInstanceOf(ClusterFailedError);
  });
});
