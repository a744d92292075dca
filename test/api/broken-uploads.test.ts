// A client that closes its connection within the body of its request: no defect of the API, and no client receives an answer.
import { createHash } from 'node:crypto';
import { connect } from 'node:net';

import { serve } from '@hono/node-server';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';

import { createApiMetrics } from '../../platform/metrics/api-metrics.ts';
import { eventually } from '../support/eventually.ts';
import { createTestApi } from './support.ts';

const sha256 = createHash('sha256').update('whole').digest('hex');

it.each([
  ['of a file', 'PUT', `/v1/file-blobs/${sha256}`, 10_000_000],
  ['of a job', 'POST', '/v1/jobs', 1_000],
  ['of a large job', 'POST', '/v1/jobs', 10_000_000],
])('a broken upload %s is counted as 499, and is no error in the log', async (_what, method, path, bytes) => {
  const registry = new Registry();
  const api = await createTestApi({ metrics: createApiMetrics(registry) });
  const listening = Promise.withResolvers<number>();
  const options = { fetch: api.app.fetch, port: 0, hostname: '127.0.0.1' };
  const server = serve(options, ({ port }) => listening.resolve(port));
  try {
    const socket = connect({ port: await listening.promise, host: '127.0.0.1' });
    const head = [
      ...[`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${api.token}`],
      ...['Content-Type: application/json', `Content-Length: ${bytes}`],
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n{"comm`);
    await eventually(async () => (await registry.metrics()).includes('requests_in_flight 1') || null);
    socket.destroy();
    await eventually(async () => (await registry.metrics()).includes('requests_in_flight 0') || null);
    expect(await registry.metrics()).toMatch(/ropewalk_http_requests_total\{.*status="499"\} 1/);
    expect(await registry.metrics()).not.toContain('status="5');
    const lines = api.logged.map((line) => JSON.parse(line));
    expect(lines.filter(({ level }) => level >= 40)).toEqual([]);
    expect(lines).toContainEqual(expect.objectContaining({ level: 20, msg: 'the client closed its connection' }));
  } finally {
    server.close();
  }
});
