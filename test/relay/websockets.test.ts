// The dashboard's WebSockets from a browser to a stand-in for Dask and back: the right to open one, its messages, its end.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';

import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';

import { eventually } from '../support/eventually.ts';
import { cluster, connect, refusedWith, type Bench } from './support.ts';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

let bench: Bench;
const connected = async (...input: Parameters<typeof connect>) => {
  const made = await connect(...input);
  ({ bench } = made);
  return made;
};
afterEach(() => bench.end());

describe('a websocket of the dashboard', () => {
  function echo(target: Server) {
    const seen: { protocol: string | undefined; cookie: string | undefined; origin: string | undefined }[] = [];
    const server = new WebSocketServer({ server: target, path: '/status/ws', perMessageDeflate: true });
    server.on('connection', (socket, { headers }) => {
      const { cookie, origin } = headers;
      seen.push({ protocol: headers['sec-websocket-protocol'], cookie, origin });
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
    });
    return seen;
  }
  const notFound: Parameters<Bench['startTarget']>[0] = (_request, response) => void response.writeHead(404).end();

  it('carries messages of any size both ways, and its end', async () => {
    const { relay, target } = await connected(notFound);
    const seen = echo(target);
    const socket = await bench.socket('/status/ws');
    const first = once(socket, 'message');
    await once(socket, 'open');
    expect(socket.protocol).toBe('bokeh');
    socket.send('hello');
    expect(String((await first)[0])).toBe('hello');
    const large = randomBytes(5 * 1024 * 1024);
    const second = once(socket, 'message');
    socket.send(large);
    const [echoed]: unknown[] = await second;
    expect(Buffer.isBuffer(echoed) && sha256(echoed)).toBe(sha256(large));
    expect(seen).toEqual([{ protocol: 'bokeh,a-session', cookie: undefined, origin: undefined }]);
    expect(relay.hub.streams(cluster)).toBe(1);
    socket.close();
    await once(socket, 'close');
    await eventually(() => relay.hub.streams(cluster) === 0);
  });

  it('is refused to other origins, without a session, with a session of another cluster, and where Dask has none', async () => {
    const { target } = await connected(notFound);
    echo(target);
    const { port } = bench.state;
    for (const origin of [
      'https://elsewhere.example',
      `http://localhost:${port}`,
      `https://127.0.0.1:${port}`,
      'null',
      '',
    ]) {
      expect(await refusedWith(await bench.socket('/status/ws', { origin }))).toBe(403);
    }
    expect(await refusedWith(await bench.socket('/status/ws', { cookie: '' }))).toBe(401);
    const other = await bench.cookie({
      workspace: 'default',
      cluster: cluster + 1,
      user: 'ada',
      tokenId: 'tok000000001',
    });
    expect(await refusedWith(await bench.socket('/status/ws', { cookie: other }))).toBe(401);
    expect(await refusedWith(await bench.socket('/jupyter/ws'))).toBe(404);
    expect(await refusedWith(await bench.socket('/tasks/ws'))).toBe(502);
    expect(await refusedWith(new WebSocket(`ws://127.0.0.1:${port}/elsewhere`))).toBe(404);
  });

  it('ends with the session that opened it', async () => {
    const { target } = await connected(notFound);
    echo(target);
    const cookie = await bench.cookie();
    bench.clock.offsetMs = 8 * 3_600_000 - 1_500;
    const socket = await bench.socket('/status/ws', { cookie });
    await once(socket, 'open');
    expect((await once(socket, 'close'))[0]).toBe(1006);
  });

  it('ends when its API token is no longer good, and no page is shown any more', async () => {
    const { target } = await connected(notFound);
    echo(target);
    const cookie = await bench.cookie();
    const socket = await bench.socket('/status/ws', { cookie });
    await once(socket, 'open');
    bench.state.isGood = false;
    expect((await once(socket, 'close'))[0]).toBe(1006);
    expect((await bench.page(`/clusters/${cluster}/dashboard/status`, { cookie })).status).toBe(401);
  });
});
