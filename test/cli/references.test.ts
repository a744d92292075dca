import { describe, expect, it } from 'vitest';

import { aCluster, aJob } from '../sdk/stand-in-api.ts';
import type { ReceivedRequest, Reply } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import { standIn } from './stand-in.ts';

/** Job 12 is named nightly, cluster 7 blue; every other name is unknown. */
function answer({ path, query, method }: ReceivedRequest): Reply {
  const { name } = query;
  if (path === '/v1/jobs') return { json: { items: name === 'nightly' ? [aJob()] : [], next: null } };
  if (path === '/v1/clusters') return { json: { items: name === 'blue' ? [aCluster()] : [], next: null } };
  if (path.endsWith('/dashboard-link')) return { json: { url: 'http://x/', expiresAt: '2030-01-01T00:00:00.000Z' } };
  if (path.endsWith('/events') || path.endsWith('/logs')) {
    return { chunks: [`${JSON.stringify({ at: '2024-11-18T17:25:10.000Z', code: 'SUBMITTED', text: 'by ada' })}\n`] };
  }
  if (method === 'POST') return { status: 202, json: {} };
  return { json: path.startsWith('/v1/jobs') ? aJob() : aCluster() };
}

describe('a name instead of a number', () => {
  it.each([
    [['batch', 'status', 'nightly'], '/v1/jobs', '/v1/jobs/12'],
    [['batch', 'wait', 'nightly'], '/v1/jobs', '/v1/jobs/12'],
    [['batch', 'cancel', 'nightly'], '/v1/jobs', '/v1/jobs/12/cancel'],
    [['batch', 'logs', 'nightly', '--format', 'json'], '/v1/jobs', '/v1/jobs/12/logs'],
    [['batch', 'events', 'nightly'], '/v1/jobs', '/v1/jobs/12/events'],
    [['cluster', 'get', 'blue'], '/v1/clusters', '/v1/clusters/7'],
    [['cluster', 'scale', 'blue', '3'], '/v1/clusters', '/v1/clusters/7/scale'],
    [['cluster', 'adapt', 'blue', '--maximum', '3'], '/v1/clusters', '/v1/clusters/7/adapt'],
    [['cluster', 'stop', 'blue'], '/v1/clusters', '/v1/clusters/7/stop'],
    [['cluster', 'logs', 'blue', '--format', 'json'], '/v1/clusters', '/v1/clusters/7/logs'],
    [['cluster', 'events', 'blue'], '/v1/clusters', '/v1/clusters/7/events'],
    [['cluster', 'dashboard', 'blue'], '/v1/clusters', '/v1/clusters/7/dashboard-link'],
  ])('%j is resolved by the server', async (words, list, path) => {
    const { api, env } = await standIn(answer);
    expect(await callCli(words, { env })).toMatchObject({ code: 0 });
    const name = words[2];
    expect(api.requests.slice(0, 2)).toMatchObject([{ path: list, query: { name, limit: '1' } }, { path }]);
  });

  it.each([
    [['batch', 'cancel', 'gone'], 'no job has the name gone', 'ropewalk batch list'],
    [['cluster', 'exec', 'gone', '--', 'true'], 'no open cluster has the name gone', 'ropewalk cluster list'],
  ])('%j fails with the command that lists numbers', async (words, what, where) => {
    const { api, env } = await standIn(answer);
    const { code, stdout, stderr } = await callCli(words, { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(what);
    expect(stderr).toContain(where);
    expect(api.requests).toHaveLength(1);
  });

  it('is refused without a request when it is not valid', async () => {
    const { api, env } = await standIn(answer);
    for (const word of ['012', 'a/b', '../x', '-']) {
      expect(await callCli(['cluster', 'get', word], { env })).toMatchObject({ code: 2, stdout: '' });
    }
    expect(api.requests).toEqual([]);
  });
});

describe('batch events', () => {
  it('prints one line per event, and follows on request', async () => {
    const { api, env } = await standIn(answer);
    const { stdout } = await callCli(['batch', 'events', '12', '--follow'], { env });
    expect(stdout).toBe('2024-11-18 17:25:10 SUBMITTED: by ada\n');
    expect(api.requests).toMatchObject([{ path: '/v1/jobs/12/events', query: { follow: 'true' } }]);
  });
});
