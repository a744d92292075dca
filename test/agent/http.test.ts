// HTTP of the agent over a real socket: kept connections, connections that ended meanwhile, and abandoned requests.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { once } from 'node:events';

import { afterEach, expect, it } from 'vitest';

import { sendHttp } from '../../agent/api-client/http.ts';

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<URL> {
  server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return new URL(`http://127.0.0.1:${address.port}/path?query=1`);
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

const post = (url: URL, body: string, signal = new AbortController().signal) =>
  sendHttp(url, { method: 'POST', headers: { 'x-mine': 'yes' }, body, signal });

it('brings method, path, headers and body there, and the answer back, over one connection', async () => {
  const ports = new Set<number | undefined>();
  const url = await serve(async (request, response) => {
    ports.add(request.socket.remotePort);
    const { method, url: path, headers } = request;
    const said = { method, path, mine: headers['x-mine'], body: await textOf(request) };
    response.writeHead(503, { 'retry-after': '7' }).end(JSON.stringify(said));
  });
  for (const body of ['', 'ä☃', 'x'.repeat(300_000)]) {
    const { status, headers, text } = await post(url, body);
    expect([status, headers['retry-after']]).toEqual([503, '7']);
    expect(JSON.parse(text)).toEqual({ method: 'POST', path: '/path?query=1', mine: 'yes', body });
  }
  expect(ports.size).toBe(1);
});

it('repeats at once a request that a kept connection has lost, and no other', async () => {
  const asked = new Map<number | undefined, number>();
  const url = await serve((request, response) => {
    const port = request.socket.remotePort;
    asked.set(port, (asked.get(port) ?? 0) + 1);
    // Like a server or a middlebox that has just closed an idle connection.
    if (asked.get(port) === 2 || asked.size > 2) request.socket.destroy();
    else void textOf(request).then((text) => response.end(text));
  });
  expect((await post(url, 'first')).text).toBe('first');
  expect((await post(url, 'second')).text).toBe('second');
  expect([...asked.values()]).toEqual([2, 1]);
  await expect(post(url, 'third')).rejects.toThrow(/socket hang up|ECONNRESET/);
});

it('gives up when it is aborted, also in the middle of an answer', async () => {
  const began = Promise.withResolvers<void>();
  const url = await serve((_request, response) => {
    response.write('half');
    began.resolve();
  });
  const giveUp = new AbortController();
  const answer = post(url, '', giveUp.signal);
  await began.promise;
  giveUp.abort();
  await expect(answer).rejects.toThrow(/abort/);
});
