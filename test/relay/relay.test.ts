// The dashboard relay from a browser's request to a stand-in for Dask and back: real sockets, real WebSockets.
import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';

import { afterEach, describe, expect, it } from 'vitest';

import { createTestApi } from '../api/support.ts';
import { eventually } from '../support/eventually.ts';
import { bodyOf, cluster, connect, type Bench } from './support.ts';

const root = `/clusters/${cluster}/dashboard`;
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

let bench: Bench;
const connected = async (...input: Parameters<typeof connect>) => {
  const made = await connect(...input);
  ({ bench } = made);
  return made;
};
afterEach(() => bench.end());

describe('a page of the dashboard', () => {
  it('keeps its window, memory and bytes apart from all other pages', async () => {
    await connected((_request, response) => response.end('the page'));
    const apart = {
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'credentialless',
      'cross-origin-resource-policy': 'same-origin',
      'origin-agent-cluster': '?1',
    };
    const { headers } = await bench.see('/status');
    expect(headers).toMatchObject(apart);
    expect(headers['content-security-policy']).toMatch(/; sandbox allow-scripts allow-same-origin allow-downloads$/);
    expect((await bench.page(`${root}/status`)).headers).toMatchObject(apart);
    const api = await createTestApi();
    const page = await api.call('GET', '/login', { token: null });
    expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(page.headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  it('comes from Dask, with nothing of ours going there and nothing of its own that could act beside it', async () => {
    const seen: object[] = [];
    await connected((request, response) => {
      seen.push({ url: request.url, method: request.method, headers: request.headers });
      response.setHeader('set-cookie', 'theirs=1; Path=/');
      response.setHeader('service-worker-allowed', '/');
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('content-security-policy', 'default-src *');
      response.setHeader('cache-control', 'public, max-age=99999');
      response.setHeader('etag', '"e"');
      response.setHeader('content-type', 'text/html');
      response.end('the page');
    });
    const page = await bench.see('/status?theme=dark', {
      authorization: 'Bearer secret',
      'x-forwarded-for': '10.0.0.9',
      'accept-language': 'de',
      connection: 'keep-alive, x-hop',
      'x-hop': '1',
    });
    expect(page).toMatchObject({ status: 200, body: 'the page' });
    expect(seen).toEqual([
      {
        url: '/status?theme=dark',
        method: 'GET',
        headers: { host: 'dask.invalid', connection: 'close', 'accept-language': 'de' },
      },
    ]);
    expect(page.headers).toMatchObject({
      etag: '"e"',
      'content-type': 'text/html',
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
    });
    expect(page.headers['content-security-policy']).toContain(`default-src ${bench.state.dashboardUrl}${root}/;`);
    for (const name of ['set-cookie', 'service-worker-allowed', 'access-control-allow-origin']) {
      expect(page.headers).not.toHaveProperty(name);
    }
  });

  it('can be large, and many at a time', async () => {
    const large = randomBytes(6 * 1024 * 1024);
    await connected((_request, response) => void response.end(large));
    const bodies = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const cookie = await bench.cookie();
        return sha256(await bodyOf(await bench.get(`${root}/static/js/large.js`, { cookie })));
      }),
    );
    expect(new Set(bodies)).toEqual(new Set([sha256(large)]));
    expect((await bench.page(`${root}/static/a.js`, { cookie: await bench.cookie() }, 'HEAD')).body).toBe('');
  });

  it('can only be read, and only where there is one', async () => {
    let asked = 0;
    await connected((_request, response) => {
      asked += 1;
      response.end();
    });
    const cookie = await bench.cookie();
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect((await bench.page(`${root}/status`, { cookie }, method)).status).toBe(405);
    }
    for (const rest of ['/api/v1/retire_workers', '/json/identity.json', '/static/..%2fapi', '/proxy/1/x/status']) {
      expect((await bench.see(rest)).status).toBe(404);
    }
    expect((await bench.see('/static/sw.js', { 'service-worker': 'script' })).status).toBe(403);
    expect(asked).toBe(0);
  });

  it('that redirects stays within the dashboard', async () => {
    const places = [
      'main/workers.html',
      '/status?a=b',
      'http://dask.invalid/tasks',
      'https://elsewhere.example/',
      '//elsewhere.example/',
    ];
    await connected((request, response) => {
      response.writeHead(302, { location: places[Number(request.url?.split('?')[1])] ?? '' });
      response.end();
    });
    const answers = await Promise.all(places.map((_place, index) => bench.see(`/info/x?${index}`)));
    expect(answers.map(({ status, headers }) => [status, headers.location])).toEqual([
      [302, `${root}/info/main/workers.html`],
      [302, `${root}/status?a=b`],
      [302, `${root}/tasks`],
      [502, undefined],
      [502, undefined],
    ]);
  });

  it('that Dask breaks off, never begins or cannot serve is an error that says so', async () => {
    await connected(
      (request, response) => {
        if (request.url === '/tasks') request.socket.destroy();
        if (request.url !== '/workers') return;
        response.write('half');
        setImmediate(() => request.socket.destroy());
      },
      { answerWithinMs: 200 },
    );
    expect((await bench.see('/tasks')).status).toBe(502);
    expect((await bench.see('/status')).status).toBe(502);
    await expect(bench.see('/workers')).rejects.toThrow('aborted');
  });
});

describe('a slow browser', () => {
  it('pauses what Dask sends, delays no other client, and gets all of it in the end', async () => {
    const total = 64 * 1024 * 1024;
    let sent = 0;
    const { relay } = await connected((request, response) => {
      if (request.url === '/health') return void response.end('ok');
      const writeOn = (): void => {
        while (sent < total) {
          sent += 65_536;
          if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', writeOn);
        }
        response.end();
      };
      writeOn();
    });
    const answer = await bench.get(`${root}/static/endless.js`, { cookie: await bench.cookie() });
    // It has stopped when nothing was sent over several answers to other requests, each a round trip through all buffers.
    await eventually(async () => {
      const before = sent;
      for (let round = 0; round < 5; round += 1) expect((await bench.see('/health')).body).toBe('ok');
      return sent === before;
    });
    // This includes the kernel's buffers of three connections on this machine; the relay's are some hundred kB.
    expect(sent).toBeLessThan(total / 2);
    expect((await bodyOf(answer)).length).toBe(total);
    await eventually(() => relay.hub.streams(cluster) === 0);
  });

  it('that goes away ends its stream', async () => {
    let closed = 0;
    const { relay } = await connected((request, response) => {
      request.socket.on('close', () => (closed += 1));
      response.write('first');
    });
    const answer = await bench.get(`${root}/static/endless.js`, { cookie: await bench.cookie() });
    expect(relay.hub.streams(cluster)).toBe(1);
    answer.destroy();
    await eventually(() => closed === 1 && relay.hub.streams(cluster) === 0);
  });
});

describe('a client that disconnects while the API looks up its session', () => {
  for (const kind of ['page', 'websocket'] as const) {
    it(`leaves no open stream, and other clients are served: a ${kind}`, async () => {
      const asked = Promise.withResolvers<void>();
      const answered = Promise.withResolvers<boolean>();
      let lookups = 0;
      const isGood = (): Promise<boolean> => {
        lookups += 1;
        if (lookups > 1) return Promise.resolve(true);
        asked.resolve();
        return answered.promise;
      };
      const reached: string[] = [];
      const { relay } = await connected(
        (request, response) => {
          reached.push(request.url ?? '');
          response.end('ok');
        },
        { isGood },
      );
      const cookie = await bench.cookie();
      if (kind === 'page') {
        const leaving = request({
          host: '127.0.0.1',
          port: bench.state.port,
          path: `${root}/tasks`,
          headers: { cookie },
        });
        leaving.on('error', () => undefined).end();
        await asked.promise;
        leaving.destroy();
      } else {
        const leaving = await bench.socket('/tasks/ws', { cookie });
        leaving.on('error', () => undefined);
        await asked.promise;
        leaving.terminate();
      }
      // Later requests are answered after the server has seen them leave.
      for (let round = 0; round < 5; round += 1) expect((await bench.see('/health')).body).toBe('ok');
      answered.resolve(true);
      for (let round = 0; round < 5; round += 1) expect((await bench.see('/health')).body).toBe('ok');
      // The server notices a closed websocket only when it reads, which it does after Dask has accepted.
      if (kind === 'page') expect(new Set(reached)).toEqual(new Set(['/health']));
      await eventually(() => relay.hub.streams(cluster) === 0);
    });
  }
});
