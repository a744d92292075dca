// The dashboard of a cluster on a real stack: link, sign-in, Dask's page and its websocket; also after the API was killed.
import { once } from 'node:events';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { createClient, type Client } from '../../sdk/client.ts';
import { makeDaskHome } from '../support/dask.ts';
import { eventually } from '../support/eventually.ts';
import { removeHome, startStack, type TestStack } from '../support/stack.ts';

describe('the dashboard on a real stack', () => {
  let home: string;
  let stack: TestStack;
  let client: Client;
  beforeAll(async () => {
    home = await makeDaskHome();
    stack = await startStack({ home });
    client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
  });
  afterAll(async () => {
    await stack?.stop();
    await removeHome(home);
  });

  it('opens by its link, and again after the API was killed', async () => {
    const { number } = await client.clusters.create({ name: 'seen', workers: 0 });
    await eventually(async () => (await client.clusters.get(number)).dask?.schedulerAddress ?? null, {
      timeoutMs: 90_000,
    });
    const { url } = await client.clusters.dashboardLink(number);
    const { origin, pathname } = new URL(url);
    expect(pathname).toBe(`/clusters/${number}/dashboard/`);
    expect(origin).not.toBe(stack.apiUrl);
    const status = `${origin}${pathname}status`;
    expect((await fetch(`${stack.apiUrl}${pathname}status`)).status).toBe(404);
    const welcome = await fetch(url);
    const cookie = welcome.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const see = async (): Promise<Response> => fetch(status, { headers: { cookie } });
    expect((await fetch(status)).status).toBe(401);
    const page = await eventually(async () => {
      const answer = await see();
      return answer.ok && (await answer.text());
    });
    expect(page).toContain('<title>Dask');

    await stack.kill('api', 'SIGKILL');
    const again = await eventually(async () => {
      const answer = await see();
      return answer.ok && (await answer.text());
    });
    // The page names its session, and Bokeh greets each client that opens a websocket for it.
    const [, session = ''] = /"token":"([^"]+)"/.exec(again) ?? [];
    const headers = { cookie, origin };
    const socket = new WebSocket(`${status.replace('http', 'ws')}/ws`, ['bokeh', session], { headers });
    const [greeting] = await once(socket, 'message');
    expect(JSON.parse(String(greeting))).toMatchObject({ msgtype: 'ACK' });
    const ended = once(socket, 'close');
    await client.clusters.stop(number);
    await eventually(async () => (await client.clusters.get(number)).endedAt);
    await ended;
    expect((await see()).status).toBe(503);
  });
});
