// Connections of clients without a token: their number, their slowness, and that one address's connections do not exclude another's.
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';

import { serve, type ServerType } from '@hono/node-server';
import { afterEach, describe, expect, it } from 'vitest';

import { limitConnections, serverOptions, type ConnectionLimits } from '../../api/connections.ts';
import { createTestApi, type TestApi } from '../api/support.ts';
import { eventually } from '../support/eventually.ts';

describe('connections', () => {
  const servers: ServerType[] = [];
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const server of servers.splice(0)) {
      if ('closeAllConnections' in server) server.closeAllConnections();
      server.close();
    }
  });

  async function listen(api: TestApi, limits: { maxConnections: number } & Partial<ConnectionLimits>) {
    const all = { headersMs: 400, requestMs: 800, maxOfAddress: null, ...limits };
    const { promise, resolve } = Promise.withResolvers<number>();
    const options = { hostname: '127.0.0.1', port: 0, serverOptions: serverOptions(all) };
    const server = serve({ fetch: api.app.fetch, ...options }, ({ port }) => resolve(port));
    limitConnections(server, all);
    servers.push(server);
    return promise;
  }

  /** Sends these words, then nothing; resolves with the received data when the other end has closed. */
  const dawdle = (port: number, words: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(words));
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });

  it.each([
    ['headers', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: '],
    [
      'a body',
      'POST /v1/login/device HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    ],
  ])('that never finish %s are ended, and others are answered meanwhile', async (_what, words) => {
    const port = await listen(await createTestApi(), { maxConnections: 100 });
    const slow = Array.from({ length: 20 }, () => dawdle(port, words));
    const healthy = await fetch(`http://127.0.0.1:${port}/healthz`);
    expect(healthy.status).toBe(200);
    for (const text of await Promise.all(slow)) expect(text === '' || text.startsWith('HTTP/1.1 408')).toBe(true);
  });

  /** Silent, until the server closes it. */
  function hold(port: number, { from = '127.0.0.1', words = '' } = {}) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    socket.on('error', () => undefined);
    // The headers of a request with "Expect" are answered.
    const opened = words.includes('Expect') ? 'data' : 'connect';
    const isOpen = new Promise<void>((resolve) => socket.once(opened, () => resolve()));
    socket.once('connect', () => words !== '' && socket.write(words));
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    sockets.push(socket);
    return { socket, isOpen, ended };
  }
  const ask = (port: number, { from = '127.0.0.1', agent }: { from?: string; agent?: Agent } = {}) =>
    new Promise<number | string>((resolve) => {
      const options = { port, host: '127.0.0.1', path: '/healthz', localAddress: from };
      const asked = request({ ...options, ...(agent === undefined ? {} : { agent }) }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      });
      asked.on('error', () => resolve('closed'));
      asked.end();
    });
  const patient = { headersMs: 60_000, requestMs: 60_000 };

  it.each([
    ['silent', ''],
    ['half a request', 'GET /healthz HTTP/1.1\r\n'],
    [
      'half a body',
      'POST /v1/login/device HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    ],
  ])('that are %s give way, the oldest first, and clients of any address are served', async (_what, words) => {
    const port = await listen(await createTestApi(), { ...patient, maxConnections: 8, maxOfAddress: null });
    const held = Array.from({ length: 8 }, () => hold(port, { words }));
    await Promise.all(held.map(({ isOpen }) => isOpen));
    for (const from of ['127.0.0.2', '127.0.0.1', '127.0.0.2']) expect(await ask(port, { from })).toBe(200);
    await held[0]?.ended;
    expect(held.at(-1)?.socket.destroyed).toBe(false);
  });

  it('from one address are bounded, and those of others go on', async () => {
    const port = await listen(await createTestApi(), { ...patient, maxConnections: 8, maxOfAddress: 4 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await ask(port, { from: '127.0.0.2', agent })).toBe(200);
    const theirs = [hold(port, { from: '127.0.0.2' }), hold(port, { from: '127.0.0.2' })];
    await Promise.all(theirs.map(({ isOpen }) => isOpen));
    const flood = Array.from({ length: 40 }, () => hold(port));
    await Promise.all(flood.slice(0, 30).map(({ ended }) => ended));
    expect(await ask(port, { from: '127.0.0.2', agent })).toBe(200);
    expect(theirs.map(({ socket }) => socket.destroyed)).toEqual([false, false]);
    agent.destroy();
  });

  it('that have sent a request keep their place: a new one beyond the limit is closed', async () => {
    const port = await listen(await createTestApi(), { ...patient, maxConnections: 2 });
    const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })];
    for (const agent of agents) expect(await ask(port, { agent })).toBe(200);
    expect(await ask(port)).toBe('closed');
    for (const agent of agents) expect(await ask(port, { agent })).toBe(200);
    for (const agent of agents) agent.destroy();
    expect(await eventually(async () => ((await ask(port)) === 200 ? 'served' : null))).toBe('served');
  });

  it('take headers of 16 KiB, and no more', async () => {
    const port = await listen(await createTestApi(), { maxConnections: 100 });
    const text = await dawdle(port, `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1.1 431/);
  });
});
