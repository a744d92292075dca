// The one connection that an agent keeps for the dashboard: the right to open it, its end, and its reconnection.
import { createHash } from 'node:crypto';
import { once } from 'node:events';

import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { relayPath } from '../../schema/relay.ts';
import { eventually } from '../support/eventually.ts';
import { cluster, connect, createBench, head, instance, portOf, refusedWith, type Bench } from './support.ts';

const root = `/clusters/${cluster}/dashboard`;

let bench: Bench;
const connected = async (...input: Parameters<typeof connect>) => {
  const made = await connect(...input);
  ({ bench } = made);
  return made;
};
afterEach(() => bench.end());

describe("an agent's connection", () => {
  const hello: Parameters<Bench['startTarget']>[0] = (_request, response) => void response.end('hello');

  it('comes back by itself when the API was away', async () => {
    const first = await connected(hello);
    expect((await bench.see('/status')).body).toBe('hello');
    await first.end();
    const second = await bench.startApi();
    await bench.connected(second.relay);
    expect((await bench.see('/status')).body).toBe('hello');
  });

  it('says which cluster it is for to whatever chooses the replica', async () => {
    bench = await createBench();
    const seen: unknown[] = [];
    const balancer = await bench.startTarget(() => undefined);
    balancer.on('upgrade', ({ headers }, socket) => {
      seen.push([headers['ropewalk-cluster'], headers.authorization?.split(' ')[0]]);
      socket.destroy();
    });
    await bench.startAgent(null, { apiUrl: `http://127.0.0.1:${portOf(balancer)}` });
    await eventually(() => seen.length > 0);
    expect(seen[0]).toEqual([String(cluster), 'Bearer']);
  });

  it('reports an outage once, and its end', async () => {
    bench = await createBench();
    const target = await bench.startTarget(hello);
    const { end } = await bench.startApi();
    await end();
    let attempts = 0;
    const { instanceToken } = await bench.tokens.mintInstance(head);
    const { troubles } = await bench.startAgent(target, { token: () => ((attempts += 1), instanceToken) });
    await eventually(() => attempts > 3);
    await bench.connected((await bench.startApi()).relay);
    await eventually(() => troubles.length === 2);
    expect(troubles[0]).toMatch(/disconnected, retrying/);
    expect(troubles[1]).toMatch(/connected again/);
  });

  it('that has gone silent is ended, by either side', async () => {
    bench = await createBench({ pingEveryMs: 50 });
    await bench.startApi();
    const { instanceToken } = await bench.tokens.mintInstance(head);
    const url = `ws://127.0.0.1:${bench.state.agentPort}${relayPath}`;
    const mute = new WebSocket(url, { headers: { authorization: `Bearer ${instanceToken}` } });
    expect((await once(mute, 'close'))[0]).toBe(4003);
    await bench.end();

    bench = await createBench({ pingEveryMs: 60_000 });
    await bench.startApi();
    const { troubles } = await bench.startAgent(null, { silentAfterMs: 50 });
    await eventually(() => troubles.some((text) => text.includes('silent')));
  });

  it('that is given up leaves no socket, though the other side never answers', async () => {
    bench = await createBench();
    let [opened, ended] = [0, 0];
    const silent = await bench.startTarget(() => {});
    silent.on('upgrade', ({ headers }, socket) => {
      opened += 1;
      socket.once('end', () => (ended += 1)).resume();
      socket.on('error', () => {});
      const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash('sha1').update(key).digest('base64');
      const upgraded = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
      socket.write(`${[...upgraded, `Sec-WebSocket-Accept: ${accept}`].join('\r\n')}\r\n\r\n`);
    });
    const address = silent.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    await bench.startAgent(null, { apiUrl: `http://127.0.0.1:${address.port}`, silentAfterMs: 50 });
    await eventually(() => opened > 1 && ended > 1);
  });

  it('stays while both sides give signs of life', async () => {
    const { agent } = await connected(hello, { pingEveryMs: 500 });
    let pages = 0;
    // Twice the silence after which the API would have closed the connection; a busy machine does not cause it by itself.
    const startedAtMs = performance.now();
    await eventually(async () => {
      pages += (await bench.see('/status')).status === 200 ? 1 : 0;
      return performance.now() - startedAtMs > 3_500;
    });
    expect(pages).toBeGreaterThan(0);
    expect(agent.troubles).toEqual([]);
  });

  it('is for the head instance alone, of a cluster that is open', async () => {
    bench = await createBench();
    await bench.startApi();
    const attempt = async (token: string): Promise<number | undefined> => {
      const url = `ws://127.0.0.1:${bench.state.agentPort}${relayPath}`;
      return refusedWith(new WebSocket(url, { headers: { authorization: `Bearer ${token}` } }));
    };
    const mint = async (id: string): Promise<string> =>
      (await bench.tokens.mintInstance({ ...head, instance: id })).instanceToken;
    expect(await attempt('nonsense')).toBe(401);
    expect(await attempt(await bench.tokens.mintLaunch({ workspace: 'default', cluster, seq: 1 }))).toBe(401);
    expect(await attempt(await mint('i_worker00'))).toBe(403);
    expect(await attempt(await mint('i_unknown0'))).toBe(403);
    bench.view.instances.push(instance('i_head0001', 'head', 2));
    expect(await attempt(await mint(head.instance))).toBe(403);
    bench.view.instances.pop();
    const ended = await createEnded();
    expect(ended).toBe(403);

    async function createEnded(): Promise<number | undefined> {
      Object.assign(bench.view, { endedAtMs: 1 });
      return attempt(await mint(head.instance));
    }
  });

  it('outlives a dashboard whose port is invalid', async () => {
    bench = await createBench();
    const { relay } = await bench.startApi();
    for (const port of [70_000, 0, Number.NaN]) {
      const { end } = await bench.startAgent(null, { target: () => ({ host: '127.0.0.1', port }) });
      await bench.connected(relay);
      expect((await bench.see('/status')).status).toBeGreaterThanOrEqual(500);
      await bench.connected(relay);
      await end();
    }
  });

  it('that sends an invalid frame is ended', async () => {
    const { relay } = await connected(hello);
    const { instanceToken } = await bench.tokens.mintInstance(head);
    for (const nonsense of ['text', Buffer.from([0, 0, 0, 0, 9]), Buffer.from([5, 0, 0, 0, 0]), Buffer.alloc(70_000)]) {
      const url = `ws://127.0.0.1:${bench.state.agentPort}${relayPath}`;
      const rogue = new WebSocket(url, { headers: { authorization: `Bearer ${instanceToken}` } });
      await once(rogue, 'open');
      rogue.send(nonsense);
      const [code] = await once(rogue, 'close');
      // The last exceeds any frame: the WebSocket itself refuses it.
      expect([4002, 1009]).toContain(code);
    }
    await bench.connected(relay);
  });

  it('carries a limited number of streams: further requests get 503 with Retry-After', async () => {
    await connected((_request, response) => void response.write('first'), { maxStreams: 2 });
    const cookie = await bench.cookie();
    const open = [await bench.get(`${root}/status`, { cookie }), await bench.get(`${root}/tasks`, { cookie })];
    const refused = await bench.see('/workers');
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
    for (const answer of open) answer.destroy();
    await eventually(async () => {
      const answer = await bench.get(`${root}/workers`, { cookie });
      answer.destroy();
      return answer.statusCode === 200;
    });
  });

  it('answers for a scheduler that has not started, and without one the page says so', async () => {
    bench = await createBench();
    const { relay } = await bench.startApi();
    expect((await bench.see('/status')).status).toBe(503);
    await bench.startAgent(null);
    await bench.connected(relay);
    expect((await bench.see('/status')).status).toBe(502);
  });
});
