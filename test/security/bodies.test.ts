// One budget covers all request bodies: those of users, of agents and of callers without a token.
import { connect } from 'node:net';

import { serve } from '@hono/node-server';
import { describe, expect, it } from 'vitest';

import { serverOptions } from '../../api/connections.ts';
import { bodyMemoryShares, maxAgentBodyBytes, maxBodyBytes } from '../../domain/requests/limits.ts';
import { createTestApi, launch, type TestApi } from '../api/support.ts';
import { eventually } from '../support/eventually.ts';

async function agentToken(api: TestApi, job: number, at: number): Promise<string> {
  const instance = `i_task000000${at}`;
  launch(api, job, instance);
  return (await api.tokens.mintInstance({ workspace: 'default', cluster: job, job, instance })).instanceToken;
}

/** A body that stops before its last byte. */
function halfSent(bytes: number) {
  const taken = { bytes: 0 };
  const chunk = new Uint8Array(64 * 1024).fill(0x20);
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (taken.bytes + chunk.length >= bytes) return new Promise(() => undefined);
        taken.bytes += chunk.length;
        return controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );
  return { body, taken };
}

it('half-sent bodies of agents take no more memory than their cluster’s share, and others are served meanwhile', async () => {
  const api = await createTestApi({ cores: 16 });
  const job = await api.submit({ ntasks: 3 });
  const leave = new AbortController();
  const sent: { bytes: number }[] = [];
  const send = async (at: number, headers: Record<string, string>): Promise<unknown> => {
    const { body, taken } = halfSent(maxAgentBodyBytes);
    sent.push(taken);
    const token = await agentToken(api, job, at);
    const all = { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers };
    const init = { method: 'POST', headers: all, body, duplex: 'half', signal: leave.signal };
    return Promise.resolve(api.app.request('/v1/agent/exchange', init)).catch(() => null);
  };
  const length = { 'content-length': String(maxAgentBodyBytes) };
  for (let at = 0; at < 40; at += 1) void send(at, at % 2 === 0 ? length : { 'transfer-encoding': 'chunked' });
  const total = (): number => sent.reduce((sum, { bytes }) => sum + bytes, 0);
  await eventually(() => total() > bodyMemoryShares.callerBytes / 2);
  const large = { command: ['true'], files: [{ path: 'a', content: 'x'.repeat(100_000) }] };
  expect((await api.call('POST', '/v1/jobs', { body: large })).status).toBe(201);
  const stranger = await api.addToken('other');
  expect((await api.call('POST', '/v1/jobs', { body: large, token: stranger })).status).toBe(201);
  expect(total()).toBeLessThanOrEqual(bodyMemoryShares.callerBytes);
  leave.abort();
});

it.each([
  ['POST', '/login'],
  ['POST', '/v1/login/device'],
  ['POST', '/v1/login/device/token'],
  ['POST', `/v1/approval-answers/wh_${'a'.repeat(26)}`],
  ['POST', '/v1/nothing'],
  ['GET', '/healthz'],
])('a body without a token has at most 4 KiB: %s %s', async (method, path) => {
  const api = await createTestApi();
  const headers = { origin: 'http://127.0.0.1:7777', 'content-length': '4097' };
  expect((await api.call(method, path, { token: null, headers })).status).toBe(413);
  const small = await api.call(method, path, { token: null, headers: { ...headers, 'content-length': '4096' } });
  expect(small.status).not.toBe(413);
});

describe('a body that all but stops', () => {
  it('is refused within seconds, and its memory is free for others of the workspace', async () => {
    const api = await createTestApi();
    const { promise, resolve } = Promise.withResolvers<number>();
    const limits = serverOptions({ headersMs: 60_000, requestMs: 120_000 });
    const options = { hostname: '127.0.0.1', port: 0, serverOptions: limits };
    const server = serve({ fetch: api.app.fetch, ...options }, ({ port }) => resolve(port));
    try {
      const port = await promise;
      const user = await api.addToken('default', ['read', 'write'], 'bob', 'member');
      const dawdle = (token: string) => {
        const head = `POST /v1/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
        const answer = Promise.withResolvers<string>();
        const socket = connect(port, '127.0.0.1', () =>
          socket.write(`${head}Content-Length: ${maxBodyBytes}\r\n\r\n{`),
        );
        let text = '';
        socket.on('data', (chunk) => (text += chunk.toString()));
        socket.on('error', () => undefined);
        socket.on('close', () => answer.resolve(text));
        return answer.promise;
      };
      // Each holds half of the workspace's share.
      const slow = [dawdle(api.token), dawdle(user)];
      const third = await api.addToken('default', ['read', 'write'], 'eve', 'member');
      const body = JSON.stringify({ command: ['true'], files: [{ path: 'a', content: 'x'.repeat(100_000) }] });
      const headers = { authorization: `Bearer ${third}`, 'content-type': 'application/json' };
      const served = await fetch(`http://127.0.0.1:${port}/v1/jobs`, { method: 'POST', headers, body });
      expect(served.status).toBe(201);
      for (const text of await Promise.all(slow)) {
        expect(text).toMatch(/^HTTP\/1.1 504/);
        expect(text).toContain('came too slowly');
      }
    } finally {
      if ('closeAllConnections' in server) server.closeAllConnections();
      server.close();
    }
  });
});
