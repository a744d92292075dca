// A page of any website can have its own name resolve to 127.0.0.1. Listeners there answer only under their own names.
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';

import { serve, type ServerType } from '@hono/node-server';
import { afterEach, describe, expect, it } from 'vitest';

import { withKnownHosts } from '../../api/known-hosts.ts';
import { createHostCheck } from '../../platform/host-check.ts';
import { serveMetrics } from '../../platform/metrics/serve.ts';
import { createTestApi } from '../api/support.ts';

const servers: ServerType[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  }
});

async function listen(names: string[] = []): Promise<number> {
  const api = await createTestApi();
  const isKnown = createHostCheck(['ropewalk.example.com', ...names]);
  const fetch = withKnownHosts(isKnown, api.app.fetch);
  const { promise, resolve } = Promise.withResolvers<number>();
  servers.push(serve({ fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => resolve(port)));
  return promise;
}

const statusWith = async (port: number, host: string, path = '/healthz'): Promise<number> => {
  const asked = request({ port, host: '127.0.0.1', path, headers: { host } });
  asked.end();
  const [response] = await once(asked, 'response');
  response.resume();
  return response.statusCode;
};

/** The first line of the answer. */
const raw = async (port: number, text: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1', () => socket.write(text));
  const [chunk] = await once(socket, 'data');
  socket.destroy();
  return String(chunk).split('\r\n')[0] ?? '';
};

describe('the API', () => {
  it.each([
    ...[
      'ropewalk.example.com',
      'ROPEWALK.example.com:8443',
      'localhost:7300',
      '127.0.0.1',
      '127.0.0.1:7300',
      '[::1]:80',
    ],
    ...['10.1.2.3:8080', 'ropewalk.internal'],
  ])('answers under %s', async (host) => {
    expect(await statusWith(await listen(['ropewalk.internal']), host)).toBe(200);
  });

  it.each([
    ...[
      'evil.example',
      'evil.example:7300',
      'ropewalk.example.com.evil.example',
      '127.0.0.1.evil.example',
      'localhost.',
    ],
    ...[
      'xlocalhost',
      'a@localhost',
      'localhost:7300:80',
      '127.0.0.1.nip.io',
      '[evil.example]',
      'localhost, evil.example',
    ],
  ])('refuses %s, on every path', async (host) => {
    const port = await listen();
    for (const path of ['/healthz', '/login', '/v1/whoami', '/nothing']) {
      expect([400, 421]).toContain(await statusWith(port, host, path));
    }
  });

  it('refuses two Host headers', async () => {
    const port = await listen();
    const twice = await raw(port, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n');
    expect(twice).toMatch(/^HTTP\/1.1 4(00|21) /);
    const same = await raw(port, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n\r\n');
    expect(same).toMatch(/^HTTP\/1.1 4(00|21) /);
  });
});

it('the metrics are not read under another name', async () => {
  const options = { host: '127.0.0.1', port: 0, sources: [() => Promise.resolve('a 1')], onError: () => undefined };
  const metrics = await serveMetrics(options);
  try {
    expect(await statusWith(metrics.port, '127.0.0.1', '/metrics')).toBe(200);
    expect(await statusWith(metrics.port, 'evil.example', '/metrics')).toBe(421);
  } finally {
    await metrics.close();
  }
});
