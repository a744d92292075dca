// `ropewalk cluster ...` as a user runs it: the real program against a real HTTP server that stands in for the API.
import { describe, expect, it } from 'vitest';

import { aCluster, aLine, anError, anInstance, aProcess } from '../sdk/stand-in-api.ts';
import type { Reply } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import { standIn } from './stand-in.ts';

const broken = { code: 'ENVIRONMENT_FAILED', text: 'no such package:\n  nonsense\u001b[2J', count: 3 };
const failures = [{ ...broken, lastAt: '2024-11-18T17:26:00.000Z' }];

describe('cluster list and cluster get', () => {
  const other = aCluster({ number: 5, name: 'red', status: 'stopped', endedAt: '2024-11-18T18:00:00.000Z' });
  const cost = { dollars: 1.2601, dollarsPerHour: 0.5 };
  const ofJob = aCluster({ number: 6, job: 6, dask: null });

  it('list Dask clusters in a table, those of jobs on demand', async () => {
    const { env } = await standIn(({ query }) => ({
      json: { items: [aCluster({ cost }), ...(query['kind'] === 'dask' ? [] : [ofJob]), other], next: null },
    }));
    const { code, stdout } = await callCli(['cluster', 'list'], { env });
    expect(code).toBe(0);
    expect(stdout).toBe(`\
┏━━━━┳━━━━━━┳━━━━━━━━━┳━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┳━━━━━━┓
┃ ID ┃ Name ┃  State  ┃ Workers ┃             Created ┃               Ended ┃ Approx Cloud Cost ┃ User ┃
┡━━━━╇━━━━━━╇━━━━━━━━━╇━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━╇━━━━━━┩
│ 7  │ blue │  ready  │   2 / 2 │ 2024-11-18 17:25:08 │                     │             $1.26 │ ada  │
│ 5  │ red  │ stopped │   2 / 2 │ 2024-11-18 17:25:08 │ 2024-11-18 18:00:00 │                   │ ada  │
└────┴──────┴─────────┴─────────┴─────────────────────┴─────────────────────┴───────────────────┴──────┘
`);
    const all = await callCli(['cluster', 'list', '--jobs', '--limit', '2', '--format', 'json'], { env });
    expect(JSON.parse(all.stdout)).toEqual([aCluster({ cost }), ofJob]);
  });

  it('say how to begin when there is none', async () => {
    const { env } = await standIn(() => ({ json: { items: [], next: null } }));
    const stderr = expect.stringContaining('ropewalk cluster create');
    expect(await callCli(['cluster', 'list'], { env })).toMatchObject({ code: 0, stdout: '', stderr });
  });

  it('leave filtering to the server', async () => {
    const { api, env } = await standIn(() => ({ json: { items: [], next: null } }));
    const filters = ['--status', 'ready,error', '--user', 'ada', '--name', 'blue', '--search', 'b%', '--kind', 'job'];
    const { code, stderr } = await callCli(['cluster', 'list', ...filters, '--since', '2024-11-18T12:00Z'], { env });
    expect([code, stderr]).toEqual([0, expect.stringContaining('No cluster matches.')]);
    expect(api.requests[0]?.query).toEqual({
      ...{ status: 'ready,error', user: 'ada', name: 'blue', q: 'b%', kind: 'job', limit: '10' },
      since: '2024-11-18T12:00:00.000Z',
    });
    expect((await callCli(['cluster', 'list', '--kind', 'both'], { env })).code).toBe(2);
  });

  it('show everything about one', async () => {
    const { instances } = aCluster();
    const reason = { code: 'WORKER_FAILED', text: 'exit code 1', at: '2024-11-18T17:26:00.000Z' };
    const { env } = await standIn(() => ({
      json: aCluster({
        status: 'scaling',
        failures,
        instances: [
          ...instances,
          anInstance({ slot: 3, process: aProcess({ state: 'starting', stage: 'environment' }) }),
          anInstance({ slot: 4, state: 'error', reason }),
          anInstance({ slot: 5, state: 'starting' }),
        ],
        events: [
          {
            ...{ seq: 9, at: '2024-11-18T17:25:10.000Z', by: null },
            code: 'READY',
            text: '3 of 3\u001b[2J instances are ready',
          },
        ],
        dask: {
          workersWanted: 5,
          workersErrored: 1,
          clients: 1,
          adaptive: { minimum: 1, maximum: 9, targetDurationSeconds: 180, waitCount: 24, intervalSeconds: 5 },
          idleSince: '2024-11-18T17:28:00.000Z',
          tasks: { processing: 4, waiting: 0, memory: 2, erred: 0, noWorker: 1 },
          usage: {
            groups: [
              { name: 'load', tasks: 90, erred: 0, computeSeconds: 61.44, transferSeconds: 1 },
              { name: 'fit\u001b[2J', tasks: 3, erred: 2, computeSeconds: 0.5, transferSeconds: 0 },
            ],
            exceptions: [{ type: 'ValueError', count: 2 }],
            memory: { usedBytes: 3 * 2 ** 30, limitBytes: 16 * 2 ** 30 },
          },
        },
      }),
    }));
    const { code, stdout } = await callCli(['cluster', 'get', '7'], { env });
    expect(code).toBe(0);
    expect(stdout).toBe(`\
Cluster 7 (blue) scaling: 2 / 5 workers, 1 failed
Created    2024-11-18 17:25:08 by ada, ready after 2.5 s
Scheduler  started at tls://127.0.0.1:8786
Workers    5 wanted: 2 started, 1 starting (environment), 1 error (WORKER_FAILED), 1 starting
Adaptive   between 1 and 9 workers
Tasks      4 processing, 1 without a worker, 2 in memory
Memory     3.0 of 16.0 GiB
Computed   90 x load 61.4 s; 3 x fit 0.5 s, 2 erred
Exceptions 2 x ValueError
Clients    1, idle since 2024-11-18 17:28:00

Failures
  3 x ENVIRONMENT_FAILED: no such package: | nonsense
  1 x WORKER_FAILED: exit code 1

Events
  2024-11-18 17:25:10 #9 READY: 3 of 3 instances are ready
`);
  });

  it('show the cluster of a job', async () => {
    const { env } = await standIn(() => ({ json: ofJob }));
    const { stdout } = await callCli(['cluster', 'get', '6'], { env });
    expect(stdout).toContain('Cluster 6 (blue) ready: for job 6\n');
    expect(stdout).toContain('Instances  3 started\n');
  });

  it('say that a cluster does not exist', async () => {
    const { env } = await standIn(() => anError(404, { code: 'NOT_FOUND', message: 'there is no cluster 9' }));
    const stderr = 'error: there is no cluster 9\n  request id: req_1\n';
    expect(await callCli(['cluster', 'get', '9'], { env })).toEqual({ code: 1, stdout: '', stderr });
    expect(await callCli(['cluster', 'get', 'not a name'], { env })).toMatchObject({ code: 2 });
  });
});

describe('cluster scale, adapt, stop and dashboard', () => {
  it.each([
    [['scale', '7', '4'], '/scale', { workers: 4 }, 'Cluster 7: scaling to 4 workers\n'],
    [['scale', '7', '0', '--format', 'json'], '/scale', { workers: 0 }, '{\n  "number": 7,\n  "workers": 0\n}\n'],
    [['adapt', '7', '--maximum', '9'], '/adapt', { minimum: 0, maximum: 9 }, 'Cluster 7: between 0 and 9 workers\n'],
    [['adapt', '7', '--off'], '/adapt', {}, 'Cluster 7: adaptive scaling is off\n'],
    [['stop', '7'], '/stop', undefined, 'Cluster 7: stopping\n'],
    [['stop', '7', '--format', 'json'], '/stop', undefined, '{\n  "number": 7\n}\n'],
  ])('%j is POST %s %j', async (words, path, body, stdout) => {
    const { api, env } = await standIn(() => ({ status: 202, json: {} }));
    expect(await callCli(['cluster', ...words], { env })).toEqual({ code: 0, stdout, stderr: '' });
    expect(api.requests).toMatchObject([{ method: 'POST', path: `/v1/clusters/7${path}` }]);
    expect(api.requests[0]?.body).toEqual(body);
  });

  it.each([
    [['scale', '7', '-1'], 'Give a number of workers'],
    [['scale', '7', 'x'], 'Give a number of workers'],
    [['adapt', '7'], '--maximum is missing'],
    [['adapt', '7', '--minimum', '3', '--maximum', '2'], '--minimum 3 is more than --maximum 2'],
    [['adapt', '7', '--off', '--maximum', '2'], '--off cannot be combined with'],
  ])('%j is refused', async (words, message) => {
    const { api, env } = await standIn(() => ({}));
    expect(await callCli(['cluster', ...words], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
    expect(api.requests).toEqual([]);
  });

  it('wait for the requested workers, past views that do not show them yet', async () => {
    const four = aCluster({ dask: { workersWanted: 4, workersStarted: 4 } });
    const scaled = await standIn((_, nth) => ({ json: nth < 4 ? aCluster() : four }));
    const result = await callCli(['cluster', 'scale', '7', '4', '--wait'], { env: scaled.env });
    expect(result).toMatchObject({ code: 0, stdout: 'Cluster 7 (blue) ready: 4 / 4 workers\n' });

    const ended = await standIn((_, nth) => ({ json: aCluster({ status: nth < 4 ? 'stopping' : 'stopped' }) }));
    const stopped = await callCli(['cluster', 'stop', '7', '--wait'], { env: ended.env });
    expect(stopped).toMatchObject({ code: 0, stdout: 'Cluster 7 (blue) stopped: 2 / 2 workers\n' });
    const json = await callCli(['cluster', 'stop', '7', '--wait', '--format', 'json'], { env: ended.env });
    expect(JSON.parse(json.stdout)).toMatchObject({ number: 7, status: 'stopped' });
  });

  it('dashboard prints only the link on stdout', async () => {
    const link = { url: 'http://127.0.0.1:7280/clusters/7/dashboard/?link=x', expiresAt: '2024-11-18T17:30:00.000Z' };
    const { api, env } = await standIn(() => ({ status: 201, json: link }));
    const stderr = 'Open it before 2024-11-18 17:30:00; run the command again for a new link.\n';
    expect(await callCli(['cluster', 'dashboard', '7'], { env })).toEqual({ code: 0, stdout: `${link.url}\n`, stderr });
    const { stdout } = await callCli(['cluster', 'dashboard', '7', '--format', 'json'], { env });
    expect(JSON.parse(stdout)).toEqual(link);
    expect(api.requests[0]).toMatchObject({ method: 'POST', path: '/v1/clusters/7/dashboard-link' });
  });
});

describe('cluster logs and cluster events', () => {
  const line = { task: null, attempt: null };
  const lines = [
    aLine({ ...line, instance: 'i_head', text: 'Scheduler at: tls://127.0.0.1:8786' }),
    aLine({ ...line, instance: 'i_one', stream: 'stderr', text: 'red\u001b[31m' }),
    aLine({ ...line, instance: 'i_one', stream: 'agent', text: 'registered' }),
    aLine({ ...line, instance: 'i_gone', text: 'bye' }),
  ];
  const ndjson = (values: unknown[]): Reply => ({ chunks: values.map((value) => `${JSON.stringify(value)}\n`) });

  it("logs are lines with Dask's names", async () => {
    const { api, env } = await standIn(({ path }) => (path.endsWith('/logs') ? ndjson(lines) : { json: aCluster() }));
    const words = ['cluster', 'logs', '7', '--follow', '--instance', 'i_x', '--since', '2025-07-09T16:50:00Z'];
    const { code, stdout } = await callCli(words, { env });
    expect(code).toBe(0);
    expect(stdout).toBe(`\
(scheduler)       2025-07-09 16:50:37.844000 Scheduler at: tls://127.0.0.1:8786
(blue-worker-one) 2025-07-09 16:50:37.844000 red
(i_gone)          2025-07-09 16:50:37.844000 bye
`);
    const query = { instance: 'i_x', follow: 'true', since: '2025-07-09T16:50:00.000Z' };
    expect(api.requests[0]).toMatchObject({ path: '/v1/clusters/7/logs', query });
    // Names are requested once, however many lines have none.
    expect(api.requests).toHaveLength(2);

    const withAgents = await callCli(['cluster', 'logs', '7', '--agents'], { env });
    expect(withAgents.stdout).toContain('(blue-worker-one agent) 2025-07-09 16:50:37.844000 registered\n');
    const json = await callCli(['cluster', 'logs', '7', '--agents', '--format', 'json'], { env });
    expect(
      json.stdout
        .trim()
        .split('\n')
        .map((each) => JSON.parse(each)),
    ).toEqual(lines);
  });

  it('events are lines too', async () => {
    const events = [
      { seq: 4, at: '2024-11-18T17:25:10.000Z', code: 'SCHEDULER_STARTED', text: 'it listens' },
      { seq: 9, at: '2024-11-18T17:25:12.000Z', code: 'READY', text: 'forged\n2024-11-18 17:25:13 STOPPED: no' },
    ];
    const { api, env } = await standIn(() => ndjson(events));
    const { stdout } = await callCli(['cluster', 'events', '7', '-f'], { env });
    expect(stdout).toBe(`\
2024-11-18 17:25:10 #4 SCHEDULER_STARTED: it listens
2024-11-18 17:25:12 #9 READY: forged | 2024-11-18 17:25:13 STOPPED: no
`);
    expect(api.requests).toMatchObject([{ path: '/v1/clusters/7/events', query: { follow: 'true' } }]);
    const json = await callCli(['cluster', 'events', '7', '--format', 'json'], { env });
    expect(
      json.stdout
        .trim()
        .split('\n')
        .map((each) => JSON.parse(each)),
    ).toEqual(events);
    await callCli(['cluster', 'events', '7', '--after', '4', '--limit', '2'], { env });
    expect(api.requests.at(-1)).toMatchObject({ query: { after: '4', limit: '2' } });
  });
});
