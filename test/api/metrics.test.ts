// The API's metrics from the outside: real app, real registry. Labels come from closed sets, whatever a caller sends.
import { readFile } from 'node:fs/promises';

import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { createApiMetrics } from '../../platform/metrics/api-metrics.ts';
import { serveMetrics } from '../../platform/metrics/serve.ts';
import { eventually } from '../support/eventually.ts';
import { createTestApi, launch } from './support.ts';

async function countedApi() {
  const registry = new Registry();
  const api = await createTestApi({ metrics: createApiMetrics(registry) });
  const text = () => registry.metrics();
  return { api, text };
}

describe('metrics of the API', () => {
  it('count requests by pattern, never by path or by what a caller made up', async () => {
    const { api, text } = await countedApi();
    const number = await api.submit({});
    await api.call('GET', `/v1/jobs/${number}`);
    await api.call('GET', '/v1/jobs/424242');
    await api.call('GET', '/secret-path-of-a-user');
    await api.call('PROPFIND', '/v1/jobs');
    const found = await text();
    expect(found).toContain('ropewalk_http_requests_total{route="/v1/jobs",method="POST",status="201"} 1');
    expect(found).toContain('ropewalk_http_requests_total{route="/v1/jobs/:number",method="GET",status="200"} 1');
    expect(found).toContain('ropewalk_http_requests_total{route="/v1/jobs/:number",method="GET",status="404"} 1');
    expect(found).toContain('ropewalk_http_requests_total{route="none",method="GET",status="404"} 1');
    expect(found).toContain('method="OTHER"');
    expect(found).not.toMatch(/secret-path|424242"|PROPFIND/);
    expect(found).toContain('ropewalk_http_requests_in_flight 0');
    expect(found).toMatch(/ropewalk_http_request_duration_seconds_count\{route="\/v1\/jobs",method="POST"\} 1/);
  });

  it('describe group commits: items, bytes, wait, window, and outcomes', async () => {
    const { api, text } = await countedApi();
    const job = await api.submit({ ntasks: 2 });
    const exchange = async (instance: string) => {
      const { instanceToken } = await api.tokens.mintInstance({ workspace: 'default', cluster: job, job, instance });
      const body = { claim: 1, want: 1, running: [], results: [], head: true };
      return api.call('POST', '/v1/agent/exchange', { token: instanceToken, body });
    };
    await Promise.all([exchange('i_one'), exchange('i_two')]);
    const found = await text();
    expect(found).toContain('ropewalk_flushes_total{update="exchange",outcome="answered"} 1');
    expect(found).toContain('ropewalk_flush_items_sum{update="exchange"} 2');
    expect(found).toContain('ropewalk_flush_wait_seconds_count{update="exchange"} 2');
    expect(found).toContain('ropewalk_flush_window_seconds_sum{update="exchange"} 0.025');
    expect(found).toMatch(/ropewalk_flush_bytes_sum\{update="exchange"\} \d{3,}/);
  });

  it('count starts of workflows by their result', async () => {
    const { api, text } = await countedApi();
    await api.submit({});
    api.workflows.control.isUnavailable = true;
    await api.submit({});
    const found = await text();
    expect(found).toContain('ropewalk_workflow_starts_total{result="started"} 1');
    expect(found).toContain('ropewalk_workflow_starts_total{result="unavailable"} 1');
  });

  it('count what agents send, and how views were read', async () => {
    const { api, text } = await countedApi();
    const number = await api.submit({ ntasks: 1 });
    launch(api, number, 'i_one');
    const { instanceToken } = await api.tokens.mintInstance({
      workspace: 'default',
      cluster: number,
      job: number,
      instance: 'i_one',
    });
    const exchange = (body: object) => api.call('POST', '/v1/agent/exchange', { token: instanceToken, body });
    const granted = await (await exchange({ claim: 1, want: 1, running: [], results: [], head: true })).json();
    const [{ lease, task, attempt }] = granted.grants;
    const result = { lease, task, attempt, exitCode: 3, signal: null, startedAtMs: 1, endedAtMs: 2, reason: null };
    await api.call('GET', `/v1/jobs/${number}`);
    await api.call('GET', `/v1/jobs/${number}`);
    await exchange({ claim: 1, want: 0, running: [], results: [result], head: true });
    const found = await text();
    expect(found).toContain('ropewalk_leases_granted_total 1');
    expect(found).toContain('ropewalk_task_results_total{outcome="failed"} 1');
    expect(found).toMatch(/ropewalk_view_reads_total\{kind="token",source="cache"\} [1-9]/);
    expect(found).toMatch(/ropewalk_view_reads_total\{kind="job",source="source"\} [1-9]/);
  });

  it('count the open streams of each route', async () => {
    const { api, text } = await countedApi();
    const number = await api.submit({});
    const leaving = new AbortController();
    const response = await api.call('GET', `/v1/jobs/${number}/logs?follow=true`, { signal: leaving.signal });
    const open = 'ropewalk_open_streams{route="/v1/jobs/:number/logs"}';
    await eventually(async () => (await text()).includes(`${open} 1`));
    await response.body?.cancel();
    await eventually(async () => (await text()).includes(`${open} 0`));
  });
});

describe('the address for metrics', () => {
  it('serves /metrics and /healthz and nothing else, and one broken source leaves the others readable', async () => {
    const errors: unknown[] = [];
    const server = await serveMetrics({
      host: '127.0.0.1',
      port: 0,
      sources: [async () => 'good 1\n', () => Promise.reject(new Error('away'))],
      onError: (error) => errors.push(error),
    });
    try {
      const url = `http://127.0.0.1:${server.port}`;
      const metrics = await fetch(`${url}/metrics`);
      expect([metrics.status, await metrics.text()]).toEqual([200, 'good 1\n\n']);
      expect(errors).toHaveLength(1);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      expect((await fetch(`${url}/v1/jobs`)).status).toBe(404);
      expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
    } finally {
      await server.close();
    }
  });

  it('is no path of the public API', async () => {
    const { api } = await countedApi();
    expect((await api.call('GET', '/metrics')).status).toBe(404);
    const document = await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
    expect(document).not.toContain('"/metrics"');
  });
});
