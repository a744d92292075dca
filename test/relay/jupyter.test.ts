// The requests that the relay passes to a cluster's Jupyter server, and the users it accepts.
import type { IncomingMessage } from 'node:http';

import { afterEach, describe, expect, it } from 'vitest';

import { rememberJupyterTokens } from '../../services/clusters/jupyter.ts';
import { bodyOf, cluster, connect, type Bench } from './support.ts';

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

const claims = { workspace: 'default', cluster, user: 'ada', tokenId: 'tok000000001' };
const cookieOf = async ({ tokens }: Bench): Promise<string> =>
  `ropewalk_jupyter=${(await tokens.mintDashboardSession(claims, 'jupyter')).token}`;

interface Seen {
  request: IncomingMessage;
  body: string;
}

async function start(token: string | null, answerHeaders: Record<string, string> = {}) {
  const seen: Seen[] = [];
  const { bench } = await connect(
    (request, response) => {
      void bodyOf(request).then((body) => {
        seen.push({ request, body: body.toString() });
        response.writeHead(answerHeaders['location'] === undefined ? 200 : 302, answerHeaders).end('answer');
      });
    },
    { jupyterToken: () => Promise.resolve(token) },
  );
  endings.push(bench.end);
  const cookie = await cookieOf(bench);
  const ask = (rest: string, { headers = {}, ...init }: RequestInit & { headers?: Record<string, string> } = {}) =>
    fetch(`${bench.state.dashboardUrl}/clusters/${cluster}/jupyter${rest}`, {
      headers: { cookie, ...headers },
      redirect: 'manual',
      ...init,
    });
  return { bench, seen, ask };
}

describe('the relay of Jupyter', () => {
  it('brings the token and the content, and neither cookie nor origin', async () => {
    const { bench, seen, ask } = await start('secret', { 'content-disposition': 'attachment', 'set-cookie': 'a=b' });
    const headers = { origin: bench.state.dashboardUrl, 'content-type': 'application/json', 'x-other': '1' };
    const answer = await ask('/api/kernels?a=b', { method: 'POST', headers, body: '{"name":"python3"}' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-disposition')).toBe('attachment');
    expect(answer.headers.has('set-cookie')).toBe(false);
    expect(answer.headers.get('content-security-policy')).toContain(`/clusters/${cluster}/jupyter/`);
    expect(seen).toHaveLength(1);
    const { request, body } = seen[0] ?? {};
    expect(request).toMatchObject({ method: 'POST', url: `/clusters/${cluster}/jupyter/api/kernels?a=b` });
    expect(request?.headers).toMatchObject({ authorization: 'token secret', 'content-type': 'application/json' });
    for (const name of ['cookie', 'origin', 'x-other']) expect(request?.headers).not.toHaveProperty(name);
    expect(body).toBe('{"name":"python3"}');
  });

  it('refuses changes from other pages, and every other method', async () => {
    const { bench, seen, ask } = await start('secret');
    const origin = bench.state.dashboardUrl;
    for (const headers of [{}, { origin: 'null' }, { origin: `${origin}0` }])
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
        expect((await ask('/api/kernels', { method, headers })).status).toBe(403);
    expect((await ask('/api/kernels', { method: 'OPTIONS', headers: { origin } })).status).toBe(405);
    expect((await bench.see('/status', { origin })).status).toBe(200);
    const dashboard = `${origin}/clusters/${cluster}/dashboard/status`;
    const post = { method: 'POST', headers: { cookie: await bench.cookie(), origin } };
    expect((await fetch(dashboard, post)).status).toBe(405);
    expect(seen).toHaveLength(1);
  });

  it('is for sessions of Jupyter, whose API token is still good', async () => {
    const { bench, seen, ask } = await start('secret');
    const [, session = ''] = (await bench.cookie()).split('=');
    for (const cookie of ['', await bench.cookie(), `ropewalk_jupyter=${session}`])
      expect((await ask('/api', { headers: { cookie } })).status).toBe(401);
    expect((await bench.see('/status', { cookie: await cookieOf(bench) })).status).toBe(401);
    const { token } = await bench.tokens.mintDashboard(claims);
    expect((await ask(`/?link=${token}`)).status).toBe(401);
    bench.state.isGood = false;
    expect((await ask('/api')).status).toBe(401);
    expect(seen).toEqual([]);
  });

  it('signs in by a link, and goes on to the lab', async () => {
    const { bench, ask } = await start('secret');
    const { token } = await bench.tokens.mintDashboard(claims, 'jupyter');
    const welcome = await ask(`/?link=${token}`, { headers: { cookie: '' } });
    expect(welcome.headers.getSetCookie()[0]).toMatch(/^ropewalk_jupyter=\S+; Path=\/clusters\/7\/jupyter\/;/);
    expect(await welcome.text()).toContain('url=/clusters/7/jupyter/lab"');
    expect((await ask('/')).headers.get('location')).toBe('/clusters/7/jupyter/lab');
  });

  it('redirects only to its own root', async () => {
    for (const [location, leads] of [
      ['/clusters/7/jupyter/lab?', '/clusters/7/jupyter/lab'],
      ['tree', '/clusters/7/jupyter/tree'],
    ] as const)
      expect((await (await start('secret', { location })).ask('/x')).headers.get('location')).toBe(leads);
    for (const location of [
      '/clusters/8/jupyter/',
      '/status',
      '//elsewhere.example/',
      '/clusters/7/jupyter/../dashboard/',
    ])
      expect((await (await start('secret', { location })).ask('/x')).status).toBe(502);
    const { seen, ask } = await start('secret');
    expect((await ask('/a%2f..%2f..%2fstatus')).status).toBe(404);
    expect(seen).toEqual([]);
  });

  it('says that a cluster has none', async () => {
    const { ask } = await start(null);
    const answer = await ask('/lab');
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain('jupyter=True');
  });
});

describe('tokens of Jupyter servers', () => {
  it('are read once a minute for each cluster, and again after a failure', async () => {
    let [reads, nowMs, fails] = [0, 0, false];
    const tokenOf = rememberJupyterTokens(
      (workspace, number) => {
        reads += 1;
        return fails ? Promise.reject(new Error('away')) : Promise.resolve(`${workspace}/${number}`);
      },
      () => nowMs,
    );
    expect(await Promise.all([tokenOf('a', 1), tokenOf('a', 1), tokenOf('a', 2)])).toEqual(['a/1', 'a/1', 'a/2']);
    expect(reads).toBe(2);
    expect(await tokenOf('b', 1)).toBe('b/1');
    nowMs = 60_000;
    fails = true;
    await expect(tokenOf('a', 2)).rejects.toThrow('away');
    fails = false;
    expect(await tokenOf('a', 2)).toBe('a/2');
  });
});
